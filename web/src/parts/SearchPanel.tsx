// What a search thinks: bars of visits and means, the principal line, what the techniques learned, and what is proven.

import { useEffect, useRef, useState } from "preact/hooks";
import type { RoleColor } from "../board/colors";
import type { Arrow } from "../board/Board";
import type { Report, Role } from "../types";
import { isIdle, seconds, short, titleOf } from "../words";
import { Swatch } from "./Swatch";

/** Arrows of the best moves, by their share of the visits. */
export function arrowsOf(report: Report | null): Arrow[] {
  if (!report) return [];
  const most = Math.max(...report.moves.map((move) => move.visits), 1);
  return report.moves
    .filter((move) => move.to !== null && move.visits > most * 0.05)
    .slice(0, 5)
    .map((move) => ({ from: move.from, to: move.to!, weight: move.visits / most }));
}

export function SearchPanel({ report, roles, colors }: { report: Report; roles: Role[]; colors: RoleColor[] }) {
  const [isAll, setAll] = useState(false);
  const total = report.moves.reduce((sum, move) => sum + move.visits, 0);
  const most = Math.max(...report.moves.map((move) => move.visits), 1);
  const rows = isAll ? report.moves : report.moves.slice(0, 8);
  const has = (key: "rave" | "mast" | "heuristic") => report.moves.some((move) => move[key] !== null);
  return (
    <div class="search-panel stack">
      <p class="row search-head">
        <Swatch color={colors[report.role]!} />
        <strong>{titleOf(roles, report.role)}</strong>
        {report.value !== null && <span class="search-value">expects {report.value.toFixed(1)}</span>}
        <span class={report.isDone ? "badge" : "badge good"}>{report.isDone ? `stopped: ${report.stop ?? "done"}` : "thinking"}</span>
      </p>
      <dl class="figures">
        <Figure name="playouts" value={short(report.playouts)} />
        <Figure name="per second" value={short(report.playoutsPerSecond)} />
        <Figure name="time" value={seconds(report.seconds)} />
        {report.tree && <Figure name="nodes" value={short(report.tree.nodes)} />}
        {report.tree && <Figure name="depth" value={`${report.tree.meanDepth.toFixed(1)} (${report.tree.deepest})`} />}
        {report.share < 1 && <Figure name="share of time" value={`${Math.round(report.share * 100)} %`} />}
      </dl>
      <Trace report={report} />
      <div class="scroll-x" role="region" aria-label="Moves of the search" tabIndex={0}>
        <table class="bars">
          <thead>
            <tr>
              <th>move</th>
              <th>visits</th>
              <th class="number">mean</th>
              {has("rave") && <th class="number">RAVE</th>}
              {has("mast") && <th class="number">MAST</th>}
              {has("heuristic") && <th class="number">heuristic</th>}
            </tr>
          </thead>
          <tbody>
            {rows.map((move) => (
              <tr key={move.kif}>
                <td>
                  <span class="bar-move">{move.text}</span>
                  {move.proven !== null && <span class="badge good">proven {move.proven}</span>}
                </td>
                <td class="bar-cell">
                  <span class="bar" style={{ width: `${((move.visits / most) * 100).toFixed(1)}%` }} />
                  <span class="bar-text">
                    {short(move.visits)} {total > 0 && <span class="bar-share">{Math.round((move.visits / total) * 100)} %</span>}
                  </span>
                </td>
                <td class="number">{move.visits === 0 ? "–" : move.mean.toFixed(1)}</td>
                {has("rave") && <td class="number">{move.rave?.toFixed(1) ?? "–"}</td>}
                {has("mast") && <td class="number">{move.mast?.toFixed(1) ?? "–"}</td>}
                {has("heuristic") && <td class="number">{move.heuristic?.toFixed(1) ?? "–"}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {report.moves.length > 8 && (
        <button type="button" class="button small quiet" onClick={() => setAll(!isAll)}>
          {isAll ? "Show the best eight" : `Show all ${report.moves.length}`}
        </button>
      )}
      {report.line.length > 0 && (
        <div>
          <p class="label">Principal line</p>
          <p class="line">
            {report.line.map((joint, idx) => (
              <span key={idx} class="line-step">
                {joint
                  .filter((move) => joint.length === 1 || !isIdle(move))
                  .map((move) => (
                    <span key={move.role} class="history-move">
                      <Swatch color={colors[move.role]!} />
                      {move.text}
                    </span>
                  ))}
              </span>
            ))}
          </p>
        </div>
      )}
      {report.techniques.length > 0 && (
        <details class="techniques" open={report.techniques.some((technique) => technique.status === "on")}>
          <summary>What the techniques learned</summary>
          <dl>
            {report.techniques.map((technique) => (
              <div key={technique.name}>
                <dt>
                  {technique.name} <span class={technique.status === "on" ? "badge good" : "badge"}>{technique.status}</span>
                </dt>
                <dd class="small">{technique.text}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </div>
  );
}

/** The value over the time of the search. */
function Trace({ report }: { report: Report }) {
  const points = useRef<[number, number][]>([]);
  const key = useRef("");
  const [, redraw] = useState(0);
  useEffect(() => {
    const own = `${report.role} ${report.step}`;
    const last = points.current.at(-1);
    if (own !== key.current || (last && report.seconds < last[0])) points.current = [];
    key.current = own;
    if (report.value !== null) {
      points.current.push([report.seconds, report.value]);
      redraw((n) => n + 1);
    }
  }, [report]);
  const all = points.current;
  if (all.length < 3) return null;
  const end = all.at(-1)![0] || 1;
  const low = Math.min(...all.map(([, value]) => value));
  const high = Math.max(...all.map(([, value]) => value), low + 4);
  const x = (time: number) => 34 + (time / end) * 560;
  const y = (value: number) => 6 + (1 - (value - low) / (high - low)) * 44;
  return (
    <svg class="trace" viewBox="0 0 600 56" role="img" aria-label={`Value over the time of the search, now ${all.at(-1)![1].toFixed(1)}`}>
      <text class="graph-text" x="28" y="14" text-anchor="end">
        {high.toFixed(0)}
      </text>
      <text class="graph-text" x="28" y="52" text-anchor="end">
        {low.toFixed(0)}
      </text>
      <polyline class="trace-line" points={all.map(([time, value]) => `${x(time).toFixed(1)},${y(value).toFixed(1)}`).join(" ")} />
    </svg>
  );
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
