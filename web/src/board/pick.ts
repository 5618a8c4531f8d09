// Which move a click means. Kept apart from the drawing, so that it can be tested without a browser.

import type { Layout, Move, Piece } from "../types";
import { dropMoves } from "./geometry";

/** What the person has clicked so far. */
export interface Picking {
  /** The cell of the piece that is to move. */
  selected: number | null;
  /** Moves that are left after from and to are known, told apart by a further cell or in a list. */
  pending: Move[];
}

export const nothingPicked: Picking = { selected: null, pending: [] };

export interface Picked {
  picking: Picking;
  /** The move that is meant, once there is one. */
  move: Move | null;
}

/** The cell besides from and to by which a move is told from the others with the same ones. */
export function furtherCell(move: Move, others: Move[]): number | null {
  const shared = (cell: number) => others.every((other) => other.cells.includes(cell));
  const own = move.cells.filter((cell) => cell !== move.from && cell !== move.to && !shared(cell));
  return own.length === 1 ? own[0]! : null;
}

/** After a click on a cell. */
export function pick(layout: Layout, pieces: Piece[], moves: Move[], picking: Picking, cell: number): Picked {
  if (picking.pending.length > 0) {
    const chosen = picking.pending.filter((move) => furtherCell(move, picking.pending) === cell);
    if (chosen.length > 0) return settle(chosen, picking.selected);
  }
  const { selected } = picking;
  if (selected !== null && selected !== cell) {
    const arriving = moves.filter((move) => move.from === selected && move.to === cell);
    if (arriving.length > 0) return settle(arriving, selected);
  }
  const leaving = moves.some((move) => move.from === cell && move.to !== cell);
  const direct = moves.filter((move) => move.to === cell && (move.from === null || move.from === cell));
  if (leaving && selected !== cell) return { picking: { selected: cell, pending: [] }, move: null };
  if (direct.length > 0) return settle(direct, null);
  if (leaving) return { picking: nothingPicked, move: null };
  return settle(indirect(layout, pieces, moves, cell), null);
}

/** Moves that a cell means although it is not one of theirs: the only piece that can move, or the column of a drop. */
function indirect(layout: Layout, pieces: Piece[], moves: Move[], cell: number): Move[] {
  const leaving = moves.filter((move) => move.to !== null && move.from !== null && move.from !== move.to);
  if (new Set(leaving.map((move) => move.from)).size === 1) {
    const arriving = leaving.filter((move) => move.to === cell);
    if (arriving.length > 0) return arriving;
  }
  const at = layout.cells[cell];
  const drop = at && dropMoves(layout, pieces, moves)?.get(`${at.part} ${at.column}`);
  return drop ? [drop] : [];
}

function settle(moves: Move[], selected: number | null): Picked {
  if (moves.length === 1) return { picking: nothingPicked, move: moves[0]! };
  return { picking: { selected: moves.length === 0 ? null : selected, pending: moves }, move: null };
}

/** The cells that can be clicked next: pieces that can move, and where the next click leads to a move. */
export function targets(moves: Move[], picking: Picking): { sources: Set<number>; targets: Set<number> } {
  if (picking.pending.length > 0) {
    const further = picking.pending.map((move) => furtherCell(move, picking.pending));
    return { sources: new Set(), targets: new Set(further.filter((cell) => cell !== null)) };
  }
  const sources = new Set(moves.filter((move) => move.from !== null && move.from !== move.to).map((move) => move.from!));
  const leaving = (move: Move) => move.from !== null && move.from !== move.to;
  const isShown = (move: Move) =>
    move.to !== null && (leaving(move) ? move.from === picking.selected || sources.size === 1 : picking.selected === null);
  return { sources, targets: new Set(moves.filter(isShown).map((move) => move.to!)) };
}
