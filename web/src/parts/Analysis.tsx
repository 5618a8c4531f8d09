// A search of the position that is shown, started and stopped by hand or running along.

import { useEffect, useState } from "preact/hooks";
import { api, listen, sentence } from "../api";
import type { RoleColor } from "../board/colors";
import type { Report, Role, State } from "../types";
import { SearchPanel } from "./SearchPanel";
import { useLoad } from "./load";

interface Props {
  game: string;
  /** Joint moves that lead to the position; null while it is not known. */
  moves: string[][] | null;
  state: State;
  roles: Role[];
  colors: RoleColor[];
  onReport: (report: Report | null) => void;
}

const SECONDS = 30;

export function Analysis({ game, moves, state, roles, colors, onReport }: Props) {
  const [isOn, setOn] = useState(false);
  const [player, setPlayer] = useState("");
  const [role, setRole] = useState<number | null>(null);
  const [report, setReport] = useState<Report | null>(null);
  const [note, setNote] = useState<string | null>(null);
  const players = useLoad(api.players, 0);
  const key = moves === null ? null : JSON.stringify(moves);
  const isPossible = !state.isTerminal && state.turn.length > 0;
  const asked = role !== null && state.turn.includes(role) ? role : null;

  useEffect(() => {
    setReport(null);
    onReport(null);
    setNote(null);
    if (!isOn || !isPossible || moves === null) return;
    return search(game, moves, player === "" ? (players.data?.default ?? "agon") : player, asked, {
      report: (news) => {
        setReport(news);
        setNote(null);
        onReport(news);
      },
      note: setNote,
    });
  }, [isOn, key, game, player, asked, isPossible]);

  return (
    <div class="stack">
      <div class="row">
        <button type="button" class={isOn ? "button" : "button primary"} aria-pressed={isOn} disabled={!isPossible} onClick={() => setOn(!isOn)}>
          {isOn ? "Stop analysing" : "Analyse this position"}
        </button>
        {state.turn.length > 1 && (
          <select class="select narrow" aria-label="For which role" value={asked ?? ""} onChange={(event) => setRole(event.currentTarget.value === "" ? null : Number(event.currentTarget.value))}>
            <option value="">{roles[state.turn[0]!]?.title}</option>
            {state.turn.slice(1).map((other) => (
              <option key={other} value={other}>
                {roles[other]?.title}
              </option>
            ))}
          </select>
        )}
        <select class="select narrow" aria-label="Player that analyses" value={player} onChange={(event) => setPlayer(event.currentTarget.value)}>
          <option value="">{players.data?.default ?? "agon"}</option>
          {(players.data?.players ?? [])
            .filter((other) => other.name !== players.data?.default)
            .map((other) => (
              <option key={other.name} value={other.name}>
                {other.name}
              </option>
            ))}
        </select>
      </div>
      {state.isTerminal && <p class="muted small">The game is over here; step back to analyse.</p>}
      {note && (
        <p class="note" role="status">
          {note}
        </p>
      )}
      {report && <SearchPanel report={report} roles={roles} colors={colors} />}
    </div>
  );
}

interface Hear {
  report: (report: Report) => void;
  note: (text: string | null) => void;
}

/** Starts an analysis; returns the function that ends it. */
function search(game: string, moves: string[][], player: string, role: number | null, hear: Hear): () => void {
  let isCurrent = true;
  let id: string | null = null;
  let close: (() => void) | null = null;
  api.analysis(game, moves, player, role, SECONDS).then(
    (answer) => {
      id = answer.id;
      if (!isCurrent) {
        void api.stopAnalysis(id).catch(() => undefined);
        return;
      }
      const stop = listen(`analyses/${encodeURIComponent(id)}/events`, {
        queue: (data) => hear.note(`Waiting for other searches; place ${(data as { place: number }).place} in the queue.`),
        search: (data) => hear.report(data as Report),
        end: () => stop(),
      });
      close = stop;
    },
    (fault: unknown) => isCurrent && hear.note(sentence(fault)),
  );
  return () => {
    isCurrent = false;
    close?.();
    if (id !== null) void api.stopAnalysis(id).catch(() => undefined);
  };
}
