// What roles have seen in a game with hidden information, the latest first: this is all that they know besides the rules and
// their own moves.

import type { RoleColor } from "../board/colors";
import type { Role, Step } from "../types";
import { isIdle, nice, titleOf } from "../words";
import { Swatch } from "./Swatch";

interface Props {
  history: Step[];
  roles: Role[];
  colors: RoleColor[];
}

/** A percept for people: `(card king)` is "card king". */
export const perceptText = (percept: string) => nice(percept.replace(/[()]/g, " ").replace(/\s+/g, " ").trim());

export function Known({ history, roles, colors }: Props) {
  const lines = history.flatMap((step, idx) => step.seen.filter((seen) => seen.percepts.length > 0).map((seen) => ({ ...seen, step, number: idx + 1 })));
  if (lines.length === 0) return null;
  const isSeveral = new Set(lines.map((line) => line.role)).size > 1;
  return (
    <section class="fact-table known" aria-label="What was seen">
      <h3>Seen</h3>
      <ol>
        {lines.reverse().map((line) => {
          const own = line.step.moves.find((move) => move.role === line.role && !isIdle(move));
          return (
            <li key={`${line.number} ${line.role}`}>
              <span class="history-number">{line.number}</span>
              {isSeveral && (
                <span class="history-move">
                  <Swatch color={colors[line.role]!} />
                  {titleOf(roles, line.role)}
                </span>
              )}
              {own && <span class="muted">after {own.text}:</span>}
              <span class="tokens">
                {line.percepts.map((percept) => (
                  <span key={percept} class="token">
                    {perceptText(percept)}
                  </span>
                ))}
              </span>
            </li>
          );
        })}
      </ol>
    </section>
  );
}
