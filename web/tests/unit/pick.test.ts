import { describe, expect, it } from "vitest";
import { dropMoves, geometryOf, neighbour } from "../../src/board/geometry";
import { furtherCell, nothingPicked, pick, targets, type Picking } from "../../src/board/pick";
import type { Layout, Move, Piece } from "../../src/types";

/** A board of squares; cells count from the top left. */
function board(width: number, height: number): Layout {
  const cells = Array.from({ length: width * height }, (_, idx) => {
    const [column, row] = [idx % width, Math.floor(idx / width)];
    return { name: `${column},${row}`, part: 0, column, row, x: column, y: row, tone: 0 as const };
  });
  const part = { title: null, x: 0, y: 0, width, height, columns: [{ text: "a", at: 0.5 }], rows: [{ text: "1", at: 0.5 }] };
  return { kind: "square", width, height, parts: [part], cells };
}

let nextId = 0;
const move = (from: number | null, to: number | null, cells: number[] = []): Move => ({
  id: nextId++,
  kif: `(m ${from} ${to} ${cells.join(" ")})`,
  text: `${from}-${to}`,
  from,
  to,
  cells: [from, to, ...cells].filter((cell) => cell !== null),
});

const stone = (cell: number): Piece => ({ cell, glyph: "x", name: "x", title: "X", shape: "disc", role: 0, layer: 0 });

/** Clicks one cell after the other; returns the move, or the cells that could be clicked. */
function click(layout: Layout, pieces: Piece[], moves: Move[], cells: number[]): Move | Picking {
  let picking = nothingPicked;
  for (const cell of cells) {
    const picked = pick(layout, pieces, moves, picking, cell);
    if (picked.move) return picked.move;
    picking = picked.picking;
  }
  return picking;
}

describe("a click", () => {
  it("makes a move that places a piece", () => {
    const moves = [move(null, 3), move(null, 4)];
    expect(click(board(3, 3), [], moves, [4])).toBe(moves[1]);
    expect(click(board(3, 3), [], moves, [5])).toEqual({ selected: null, pending: [] });
  });

  it("selects a piece and then moves it", () => {
    const moves = [move(0, 1), move(0, 2), move(5, 2), move(5, 1)];
    expect(click(board(3, 3), [], moves, [0])).toMatchObject({ selected: 0 });
    expect(click(board(3, 3), [], moves, [0, 2])).toBe(moves[1]);
    expect(click(board(3, 3), [], moves, [0, 5, 2])).toBe(moves[2]);
    // A second click lets go, and a target alone does not say which piece is meant.
    expect(click(board(3, 3), [], moves, [0, 0])).toEqual(nothingPicked);
    expect(click(board(3, 3), [], moves, [2])).toEqual(nothingPicked);
  });

  it("on a target moves the only piece that can move", () => {
    const moves = [move(4, 1), move(4, 3)];
    expect(click(board(3, 3), [], moves, [3])).toBe(moves[1]);
    // Moves that place something beside it change nothing about that.
    const more = [...moves, move(null, 4), move(null, 8)];
    expect(targets(more, nothingPicked).targets).toEqual(new Set([1, 3, 4, 8]));
    expect(click(board(3, 3), [], more, [3])).toBe(moves[1]);
    expect(click(board(3, 3), [], more, [8])).toBe(more[3]);
  });

  it("asks which of several moves with the same cells is meant", () => {
    const moves = [move(0, 1), move(0, 1)];
    const left = click(board(3, 3), [], moves, [0, 1]);
    expect(left).toEqual({ selected: 0, pending: moves });
  });

  it("takes a further cell to tell moves apart", () => {
    const moves = [move(0, 1, [7]), move(0, 1, [8])];
    expect(furtherCell(moves[0]!, moves)).toBe(7);
    expect(targets(moves, { selected: 0, pending: moves }).targets).toEqual(new Set([7, 8]));
    expect(click(board(3, 3), [], moves, [0, 1, 8])).toBe(moves[1]);
  });

  it("anywhere in a column drops a piece", () => {
    const layout = board(2, 3);
    const moves = [move(null, 2), move(null, 5)];
    const pieces = [stone(4)];
    expect(dropMoves(layout, pieces, moves)?.size).toBe(2);
    expect(click(layout, pieces, moves, [0])).toBe(moves[0]);
    expect(click(layout, pieces, moves, [1])).toBe(moves[1]);
  });

  it("does not drop where pieces do not fall", () => {
    const layout = board(2, 3);
    // The cell below the first one is free.
    expect(dropMoves(layout, [], [move(null, 2), move(null, 5)])).toBeNull();
    expect(click(layout, [], [move(null, 2), move(null, 5)], [0])).toEqual(nothingPicked);
  });
});

describe("targets", () => {
  it("are shown for the selected piece only", () => {
    const moves = [move(0, 1), move(5, 2)];
    expect(targets(moves, nothingPicked)).toEqual({ sources: new Set([0, 5]), targets: new Set() });
    expect(targets(moves, { selected: 5, pending: [] }).targets).toEqual(new Set([2]));
  });
});

describe("geometry", () => {
  it("wraps boards in a row into a square", () => {
    const layer = board(2, 2);
    const parts = [0, 1, 2, 3].map((idx) => ({ ...layer.parts[0]!, title: `layer ${idx}`, x: idx * 3 }));
    const cells = parts.flatMap((part, idx) => layer.cells.map((cell) => ({ ...cell, part: idx, x: cell.x + part.x })));
    const geometry = geometryOf({ kind: "space", width: 11, height: 2, parts, cells });
    const corners = [0, 4, 8, 12].map((cell) => geometry.spots[cell]!);
    expect(corners[1]!.y).toBe(corners[0]!.y);
    expect(corners[2]!.x).toBe(corners[0]!.x);
    expect(corners[2]!.y).toBeGreaterThan(corners[0]!.y + 200);
    expect(geometry.width).toBeLessThan(700);
  });

  it("keeps every cell inside the picture", () => {
    const geometry = geometryOf(board(5, 4));
    for (const spot of geometry.spots) {
      expect(spot.x).toBeGreaterThan(50);
      expect(spot.x).toBeLessThan(geometry.width - 50);
      expect(spot.y).toBeGreaterThan(50);
      expect(spot.y).toBeLessThan(geometry.height - 50);
    }
  });

  it("turns the board with its labels", () => {
    const layout = board(3, 2);
    const [plain, turned] = [geometryOf(layout), geometryOf(layout, true)];
    expect(turned.spots[0]).toMatchObject({ x: plain.spots[5]!.x, y: plain.spots[5]!.y });
    expect(turned.spots[2]).toMatchObject({ x: plain.spots[3]!.x, y: plain.spots[3]!.y });
    expect(turned.labels[1]!.x).toBe(turned.spots[0]!.x);
    expect(turned.labels[0]!.y).toBe(turned.spots[0]!.y);
  });

  it("finds the neighbour of an arrow key", () => {
    const { spots } = geometryOf(board(3, 3));
    expect(neighbour(spots, 4, [1, 0])).toBe(5);
    expect(neighbour(spots, 4, [0, -1])).toBe(1);
    expect(neighbour(spots, 0, [-1, 0])).toBe(0);
  });
});
