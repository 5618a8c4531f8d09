// Scores of a tournament as points with their 95 % intervals.

import type { StoreRow } from "../types";

const WIDTH = 720;
const LEFT = 250;
const ROW = 26;

export function IntervalPlot({ rows }: { rows: StoreRow[] }) {
  if (rows.length === 0) return null;
  const height = rows.length * ROW + 34;
  const x = (value: number) => LEFT + (Math.max(0, Math.min(100, value)) / 100) * (WIDTH - LEFT - 16);
  return (
    <figure class="interval-plot scroll-x" tabIndex={0} aria-label="Scores with intervals">
      <svg viewBox={`0 0 ${WIDTH} ${height}`} role="img" aria-label={rows.map(rowText).join("; ")}>
        {[0, 25, 50, 75, 100].map((value) => (
          <g key={value}>
            <line class={value === 50 ? "graph-now" : "graph-grid"} x1={x(value)} x2={x(value)} y1={4} y2={height - 26} />
            <text class="graph-text" x={x(value)} y={height - 8} text-anchor="middle">
              {value} %
            </text>
          </g>
        ))}
        {rows.map((row, idx) => {
          const y = 4 + idx * ROW + ROW / 2;
          return (
            <g key={idx}>
              <text class="graph-text" x={LEFT - 12} y={y + 4} text-anchor="end">
                {label(row)}
              </text>
              <line class="interval" x1={x(row.low)} x2={x(row.high)} y1={y} y2={y} />
              <line class="interval" x1={x(row.low)} x2={x(row.low)} y1={y - 5} y2={y + 5} />
              <line class="interval" x1={x(row.high)} x2={x(row.high)} y1={y - 5} y2={y + 5} />
              <circle class="interval-point" cx={x(row.mean)} cy={y} r="5" />
            </g>
          );
        })}
      </svg>
    </figure>
  );
}

function label(row: StoreRow): string {
  const text = `${row.game}: ${row.first} – ${row.second}`;
  return text.length > 38 ? `${text.slice(0, 37)}…` : text;
}

const rowText = (row: StoreRow) =>
  `${row.game}, ${row.first} against ${row.second}: ${row.mean.toFixed(1)} per cent, from ${row.low.toFixed(1)} to ${row.high.toFixed(1)}`;
