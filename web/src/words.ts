// Numbers and names as people write them.

import type { Facts, GameKind, MadeMove, Role, Step } from "./types";

/** Roles that players take; chance is none. */
export const nPlayers = (roles: Role[]) => roles.filter((role) => !role.isChance).length;

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`;
}

/** 12 345 678 as 12.3 M. */
export function short(n: number): string {
  if (!Number.isFinite(n)) return "–";
  if (Math.abs(n) >= 1e9) return `${(n / 1e9).toFixed(1)} G`;
  if (Math.abs(n) >= 1e6) return `${(n / 1e6).toFixed(1)} M`;
  if (Math.abs(n) >= 1e4) return `${Math.round(n / 1e3)} k`;
  if (Math.abs(n) >= 1e3) return `${(n / 1e3).toFixed(1)} k`;
  return String(Math.round(n));
}

export function seconds(s: number): string {
  if (s < 10) return `${s.toFixed(1)} s`;
  if (s < 60) return `${Math.round(s)} s`;
  return `${Math.floor(s / 60)}:${String(Math.floor(s % 60)).padStart(2, "0")}`;
}

/** A name of the rules for people: `has_card` is "has card". */
export const nice = (name: string) => name.replaceAll("_", " ");

export const kindText: Record<GameKind, string> = {
  "turn-taking": "Turn by turn",
  simultaneous: "Simultaneous",
  "single-player": "Puzzle",
};

/** Whether a move only says that the role has to wait. */
export const isIdle = (move: { kif: string; text: string }) => /^\(?\s*noop\s*\)?$/i.test(move.kif) || move.text === "-";

/** The moves of a step that are worth showing. */
export function shownMoves(step: Step): MadeMove[] {
  const real = step.moves.filter((move) => !isIdle(move));
  return real.length > 0 ? real : step.moves.slice(0, 1);
}

export const noSearch = "Searches of a position are for games without chance and hidden information.";

export const titleOf = (roles: Role[], role: number) => roles[role]?.title ?? `role ${role + 1}`;

/** "Red, Green and Blue". */
export function list(words: string[]): string {
  return words.length < 2 ? (words[0] ?? "") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

/** Facts that a chip can hold, and those that need a table. */
export function splitFacts(facts: Facts[]): { chips: Facts[]; tables: Facts[] } {
  const isChip = (fact: Facts) => fact.rows.length === 1 && fact.rows[0]!.length <= 2;
  return { chips: facts.filter(isChip), tables: facts.filter((fact) => !isChip(fact)) };
}

/** Rows with two arguments by their first one, if that makes fewer groups than rows. */
export function grouped(facts: Facts): Map<string, string[]> | null {
  if (facts.rows.length < 2 || facts.rows.some((row) => row.length !== 2)) return null;
  const groups = new Map<string, string[]>();
  for (const [first, second] of facts.rows as [string, string][]) {
    groups.set(first, [...(groups.get(first) ?? []), second]);
  }
  return groups.size < facts.rows.length ? groups : null;
}
