// What each player expected, move by move. One line per role, told apart by colour and by dashes.

import type { RoleColor } from "../board/colors";
import type { Role, Step } from "../types";

interface Props {
  history: Step[];
  roles: Role[];
  colors: RoleColor[];
  step: number;
  onStep: (step: number) => void;
}

const WIDTH = 600;
const HEIGHT = 150;
const LEFT = 34;
const dashes = ["", "9 5", "2 5", "12 4 2 4", "5 5", "1 4"];

/** The points of a role: steps before which it thought, and what it expected. */
export function valuesOf(history: Step[], role: number): [number, number][] {
  return history.flatMap((step, idx): [number, number][] => {
    const value = step.thoughts[role]?.value ?? null;
    return value === null ? [] : [[idx, value]];
  });
}

export function ValueGraph({ history, roles, colors, step, onStep }: Props) {
  const lines = roles.map((_, role) => valuesOf(history, role));
  if (lines.every((line) => line.length === 0)) return null;
  const last = Math.max(history.length, 1);
  const x = (at: number) => LEFT + (at / last) * (WIDTH - LEFT - 8);
  const y = (value: number) => 8 + (1 - value / 100) * (HEIGHT - 30);
  const seek = (event: MouseEvent) => {
    const box = (event.currentTarget as SVGSVGElement).getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * WIDTH;
    onStep(Math.min(history.length, Math.max(0, Math.round(((at - LEFT) / (WIDTH - LEFT - 8)) * last))));
  };
  return (
    <figure class="value-graph">
      <figcaption class="label">Expected goal</figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={graphText(lines, roles)} onClick={seek}>
        {[0, 50, 100].map((value) => (
          <g key={value}>
            <line class="graph-grid" x1={LEFT} x2={WIDTH - 8} y1={y(value)} y2={y(value)} />
            <text class="graph-text" x={LEFT - 6} y={y(value) + 4} text-anchor="end">
              {value}
            </text>
          </g>
        ))}
        <line class="graph-now" x1={x(step)} x2={x(step)} y1={4} y2={HEIGHT - 18} />
        {lines.map((line, role) => (
          <g key={role}>
            <polyline class="graph-halo" points={line.map(([at, value]) => `${x(at)},${y(value)}`).join(" ")} />
            <polyline
              class="graph-line"
              style={{ stroke: colors[role]!.fill }}
              stroke-dasharray={dashes[role % dashes.length]}
              points={line.map(([at, value]) => `${x(at)},${y(value)}`).join(" ")}
            />
            {line.length === 1 && <circle cx={x(line[0]![0])} cy={y(line[0]![1])} r="4" style={{ fill: colors[role]!.fill }} />}
          </g>
        ))}
        <text class="graph-text" x={WIDTH - 8} y={HEIGHT - 4} text-anchor="end">
          step {last}
        </text>
      </svg>
      <p class="graph-legend small muted">
        {roles.map((role, idx) =>
          lines[idx]!.length === 0 ? null : (
            <span key={role.name} class="row">
              <svg viewBox="0 0 40 10" aria-hidden="true">
                <line class="graph-halo" x1="0" x2="40" y1="5" y2="5" />
                <line class="graph-line" x1="0" x2="40" y1="5" y2="5" style={{ stroke: colors[idx]!.fill }} stroke-dasharray={dashes[idx % dashes.length]} />
              </svg>
              {role.title}
            </span>
          ),
        )}
      </p>
    </figure>
  );
}

function graphText(lines: [number, number][][], roles: Role[]): string {
  const parts = lines.flatMap((line, role) => {
    const end = line.at(-1);
    return end ? [`${roles[role]!.title} expected ${Math.round(end[1])} at step ${end[0]}`] : [];
  });
  return `Expected goals: ${parts.join(", ")}`;
}
