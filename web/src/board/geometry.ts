// Where cells are drawn. The server places the cells; several boards in one row are wrapped here, so that they fit a
// telephone as well as a projector.

import type { Layout, Move, Piece } from "../types";

/** Units of the drawing per cell. */
export const UNIT = 100;
/** Room for the names of columns and rows, and their size, on a board of about eight columns. */
const MARGIN = 46;
const TITLE = 40;
const GAP = 70;
const FONT = 26;

export interface Spot {
  cell: number;
  /** The middle of the cell. */
  x: number;
  y: number;
}

export interface PlacedLabel {
  text: string;
  /** The size of its letters. */
  font: number;
  x: number;
  y: number;
}

export interface Frame {
  title: string | null;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Geometry {
  width: number;
  height: number;
  spots: Spot[];
  labels: PlacedLabel[];
  frames: Frame[];
  isHex: boolean;
  /** The size of labels: they look the same on small and on large boards. */
  font: number;
}

export function geometryOf(source: Layout, isFlipped = false): Geometry {
  const layout = isFlipped ? flipped(source) : source;
  const isHex = layout.kind === "hex";
  const parts = layout.parts;
  const columns = columnsOf(layout);
  const scale = Math.min(2, Math.max(0.45, Math.max(layout.width, layout.height) / (columns === null ? 8.5 : 12)));
  const margin = MARGIN * scale;
  const font = FONT * scale;
  // Names of rows may be words.
  const beside = isHex ? margin : Math.max(margin, ...parts.flatMap((part) => part.rows.map((label) => textWidth(label.text, rowFont(label.text, font)) + 16)));
  const hasTitles = parts.some((part) => part.title !== null) && parts.length > 1;
  const top = hasTitles ? TITLE * scale + 6 : isHex ? 34 * scale : 0;
  const cellWidth = Math.max(...parts.map((part) => part.width), 1) * UNIT;
  const cellHeight = Math.max(...parts.map((part) => part.height), 1) * UNIT;
  const frames: Frame[] = parts.map((part, idx) => {
    const place = columns === null ? gridPlace(layout, idx) : [idx % columns, Math.floor(idx / columns)];
    const [column, row] = place as [number, number];
    return {
      title: hasTitles ? part.title : null,
      x: beside + column * (cellWidth + GAP + beside - margin),
      y: top + row * (cellHeight + GAP + top) + (hasTitles ? 0 : 6),
      width: part.width * UNIT,
      height: part.height * UNIT,
    };
  });
  const spots = layout.cells.map((cell, idx) => {
    const part = parts[cell.part]!;
    const frame = frames[cell.part]!;
    return {
      cell: idx,
      x: frame.x + (cell.x - part.x + 0.5) * UNIT,
      y: frame.y + (cell.y - part.y + 0.5) * UNIT,
    };
  });
  const labels = parts.flatMap((_, idx) => partLabels(layout, idx, frames[idx]!, spots, scale, font));
  const right = Math.max(...frames.map((frame) => frame.x + frame.width), ...spots.map((spot) => spot.x + UNIT / 2));
  const bottom = Math.max(...frames.map((frame) => frame.y + frame.height), ...spots.map((spot) => spot.y + UNIT / 2));
  return { width: right + 10, height: bottom + margin, spots, labels, frames, isHex, font };
}

/** About the width of a text. */
const textWidth = (text: string, font: number) => text.length * font * 0.58;

/** The size at which a text fits into a width. */
const fontFor = (text: string, font: number, width: number) => Math.min(font, Math.max(font * 0.4, width / (text.length * 0.58)));
const rowFont = (text: string, font: number) => fontFor(text, font, UNIT * 1.6);

/** Every board seen from the other side. */
function flipped(layout: Layout): Layout {
  const parts = layout.parts.map((part) => ({
    ...part,
    columns: part.columns.map((label) => ({ ...label, at: 2 * part.x + part.width - label.at })),
    rows: part.rows.map((label) => ({ ...label, at: 2 * part.y + part.height - label.at })),
  }));
  const cells = layout.cells.map((cell) => {
    const part = layout.parts[cell.part]!;
    return { ...cell, x: 2 * part.x + part.width - cell.x - 1, y: 2 * part.y + part.height - cell.y - 1 };
  });
  return { ...layout, parts, cells };
}

/** How many boards there are in a row, if they are wrapped; null where the server's arrangement is kept. */
function columnsOf(layout: Layout): number | null {
  const parts = layout.parts;
  if (parts.length < 3) return null;
  const isRow = parts.every((part) => part.y === parts[0]!.y);
  const isColumn = parts.every((part) => part.x === parts[0]!.x);
  return isRow || isColumn ? Math.ceil(Math.sqrt(parts.length)) : null;
}

/** The place of a board in the server's arrangement, as numbers of boards. */
function gridPlace(layout: Layout, idx: number): [number, number] {
  const rank = (values: number[], value: number) =>
    [...new Set(values)].sort((one, two) => one - two).indexOf(value);
  const part = layout.parts[idx]!;
  return [
    rank(layout.parts.map((other) => other.x), part.x),
    rank(layout.parts.map((other) => other.y), part.y),
  ];
}

function partLabels(layout: Layout, idx: number, frame: Frame, spots: Spot[], scale: number, font: number): PlacedLabel[] {
  const part = layout.parts[idx]!;
  const isHex = layout.kind === "hex";
  // On a star, names of rows and columns would lie across each other.
  if (isHex && layout.cells.length < part.columns.length * part.rows.length) return [];
  // The rows of a hexagonal board are shifted, so their names are beside their first cell.
  const rowX = (text: string, at: number) => {
    if (!isHex) return frame.x - Math.max(22 * scale, textWidth(text, rowFont(text, font)) / 2 + 5) - 3;
    const inRow = layout.cells
      .map((cell, cellIdx) => ({ cell, spot: spots[cellIdx]! }))
      .filter(({ cell }) => cell.part === idx && Math.abs(cell.y + 0.5 - at) < 0.01);
    return Math.min(...inRow.map(({ spot }) => spot.x), frame.x + frame.width) - UNIT / 2 - 16 * scale;
  };
  const rows = part.rows.map((label) => ({
    text: label.text,
    font: isHex ? font : rowFont(label.text, font),
    x: rowX(label.text, label.at),
    y: frame.y + (label.at - part.y) * UNIT,
  }));
  const columns = part.columns.map((label, column) => {
    if (isHex) return { text: label.text, font, ...hexColumn(layout, idx, column, spots, frame, scale) };
    return { text: label.text, font: fontFor(label.text, font, UNIT * 0.95), x: frame.x + (label.at - part.x) * UNIT, y: frame.y + frame.height + 22 * scale + 4 };
  });
  return [...rows, ...columns];
}

/** The name of a column of hexagons is above its first cell, whose row may be any one on a star. */
function hexColumn(layout: Layout, part: number, column: number, spots: Spot[], frame: Frame, scale: number): { x: number; y: number } {
  const own = spots.filter((spot) => layout.cells[spot.cell]!.part === part && layout.cells[spot.cell]!.column === column);
  const first = own.reduce<Spot | null>((best, spot) => (best === null || spot.y < best.y ? spot : best), null);
  if (first === null) return { x: -UNIT, y: frame.y };
  return { x: first.x - UNIT * 0.22, y: first.y - UNIT * 0.5 - 17 * scale };
}

/** The cell that an arrow key leads to. */
export function neighbour(spots: Spot[], from: number, direction: [number, number]): number {
  const here = spots[from];
  if (!here) return 0;
  const [dx, dy] = direction;
  let best = from;
  let bestCost = Infinity;
  for (const spot of spots) {
    const along = (spot.x - here.x) * dx + (spot.y - here.y) * dy;
    const aside = Math.abs((spot.x - here.x) * dy) + Math.abs((spot.y - here.y) * dx);
    if (along < UNIT / 4) continue;
    const cost = along + aside * 2.5;
    if (cost < bestCost) {
      bestCost = cost;
      best = spot.cell;
    }
  }
  return best;
}

/**
 * Moves that drop a piece: the cell on which each lands is the lowest free one of its column, so that a click anywhere in
 * the column means the move. Null if the moves are not of that kind.
 */
export function dropMoves(layout: Layout, pieces: Piece[], moves: Move[]): Map<string, Move> | null {
  const landing = moves.filter((move) => move.to !== null);
  if (landing.length === 0 || landing.some((move) => move.from !== null)) return null;
  const filled = new Set(pieces.map((piece) => piece.cell));
  const drops = new Map<string, Move>();
  for (const move of landing) {
    const cell = layout.cells[move.to!]!;
    const key = `${cell.part} ${cell.column}`;
    if (drops.has(key)) return null;
    drops.set(key, move);
    const lands = layout.cells.every(
      (other, idx) =>
        other.part !== cell.part || other.column !== cell.column || filled.has(idx) === other.y > cell.y,
    );
    if (!lands) return null;
  }
  return drops;
}
