// What is not on the board: chips for single facts, and tables where there are many. Without a board this is the whole state.

import type { RoleColor } from "../board/colors";
import type { Facts, Role } from "../types";
import { grouped, nice, splitFacts } from "../words";
import { Swatch } from "./Swatch";

interface Props {
  facts: Facts[];
  roles: Role[];
  colors: RoleColor[];
}

export function FactsView({ facts, roles, colors }: Props) {
  const { chips, tables } = splitFacts(facts);
  if (facts.length === 0) return null;
  return (
    <div class="facts">
      {chips.length > 0 && (
        <ul class="chips" aria-label="What holds besides the board">
          {chips.map((fact) => (
            <li key={fact.name} class="chip">
              <span class="chip-name">{nice(fact.name)}</span>
              {fact.rows[0]!.map((word, idx) => (
                <Word key={idx} word={word} roles={roles} colors={colors} />
              ))}
            </li>
          ))}
        </ul>
      )}
      {tables.map((fact) => (
        <FactTable key={fact.name} fact={fact} roles={roles} colors={colors} />
      ))}
    </div>
  );
}

function Word({ word, roles, colors }: { word: string; roles: Role[]; colors: RoleColor[] }) {
  const role = roles.findIndex((other) => other.name === word);
  if (role < 0) return <b>{word}</b>;
  return (
    <b class="role-word">
      <Swatch color={colors[role]!} />
      {roles[role]!.title}
    </b>
  );
}

const MOST_ROWS = 40;

function FactTable({ fact, roles, colors }: { fact: Facts; roles: Role[]; colors: RoleColor[] }) {
  const groups = grouped(fact);
  const word = (text: string) => <Word word={text} roles={roles} colors={colors} />;
  const isList = fact.rows.every((row) => row.length === 1);
  return (
    <section class="fact-table">
      <h3>{nice(fact.name)}</h3>
      {groups ? (
        <dl>
          {[...groups].map(([first, rest]) => (
            <div key={first}>
              <dt>{word(first)}</dt>
              <dd class="tokens">
                {rest.map((text, idx) => (
                  <span key={idx} class="token">
                    {text}
                  </span>
                ))}
              </dd>
            </div>
          ))}
        </dl>
      ) : isList ? (
        <p class="tokens">
          {fact.rows.map((row, idx) => (
            <span key={idx} class="token">
              {row[0]}
            </span>
          ))}
        </p>
      ) : (
        <div class="scroll-x">
          <table>
            <tbody>
              {fact.rows.slice(0, MOST_ROWS).map((row, idx) => (
                <tr key={idx}>
                  {row.map((text, column) => (
                    <td key={column}>{word(text)}</td>
                  ))}
                  {row.length === 0 && <td>holds</td>}
                </tr>
              ))}
            </tbody>
          </table>
          {fact.rows.length > MOST_ROWS && <p class="small muted">and {fact.rows.length - MOST_ROWS} more</p>}
        </div>
      )}
    </section>
  );
}
