// How a piece looks. The server says its shape, owner and name; this adds drawings for things that rules often speak of,
// and shows what is not known as a tile with its text.

import { colorWord, paintOf, wordPaint, type RoleColor } from "./colors";
import type { Paint, PieceName, Traits } from "./pieces";
import type { Piece, Shape } from "../types";

export type Look =
  | { as: "piece"; name: PieceName; paint: Paint }
  | { as: "traits"; traits: Traits; paint: Paint }
  | { as: "text"; text: string; paint: Paint | null };

const shapes: Partial<Record<Shape, PieceName>> = {
  king: "king",
  queen: "queen",
  rook: "rook",
  bishop: "bishop",
  knight: "knight",
  pawn: "pawn",
  man: "man",
  crown: "crownedMan",
  cross: "cross",
  ring: "nought",
  wall: "wall",
};

const things: Record<string, PieceName> = {
  wall: "wall",
  brick: "wall",
  blocked: "wall",
  hole: "block",
  block: "block",
  obstacle: "wall",
  box: "box",
  crate: "box",
  keeper: "figure",
  man: "figure",
  robot: "figure",
  player: "figure",
  explorer: "figure",
  agent: "figure",
  runner: "figure",
  pursuer: "figure",
  evader: "figure",
  pacman: "figure",
  monkey: "figure",
  ghost: "figure",
  target: "target",
  goal: "target",
  exit: "target",
  across: "across",
  horizontal: "across",
  upright: "upright",
  vertical: "upright",
  lamp: "lamp",
  light: "lamp",
  lit: "lamp",
  on: "lamp",
  arrow: "flame",
  fire: "flame",
  burnt: "flame",
  burned: "flame",
  queen: "queen",
  knight: "knight",
};

export function lookOf(piece: Piece, colors: RoleColor[]): Look {
  const owner = piece.role === null ? undefined : colors[piece.role];
  const words = piece.name.toLowerCase().split(/[\s_]+/).filter((word) => word !== "");
  const traits = traitsOf(words);
  if (traits) return { as: "traits", traits, paint: paintOf(words.includes("dark") ? "black" : "white") };
  if (piece.shape === "floor") return { as: "piece", name: "target", paint: firstColor(words) ?? thingPaint("target") };
  const shape = shapes[piece.shape];
  const own = owner ?? firstColor(words);
  if (shape === "wall") return { as: "piece", name: "wall", paint: thingPaint("wall") };
  if (shape) return { as: "piece", name: shape, paint: own ?? (isMark(shape) ? markPaint(shape) : paintOf("white")) };
  const thing = words.map(thingOf).find((name) => name !== undefined);
  if (thing) return { as: "piece", name: thing, paint: owner ?? thingPaint(thing) };
  if (piece.shape === "disc") return { as: "piece", name: "disc", paint: own ?? wordPaint(piece.name) };
  if (piece.shape === "mark") return { as: "piece", name: "block", paint: own ?? wordPaint(piece.name) };
  const text = shortText(piece, words);
  return { as: "text", text, paint: isNumber(text) && !own ? null : (own ?? wordPaint(piece.name)) };
}

function thingOf(word: string): PieceName | undefined {
  const plain = word.replace(/\d+$/, "");
  return Object.hasOwn(things, plain) ? things[plain] : undefined;
}

const isNumber = (text: string) => /^-?\d+$/.test(text);
const isMark = (name: PieceName) => name === "cross" || name === "nought";
const markPaint = (name: PieceName) => paintOf(name === "cross" ? "blue" : "orange");

function firstColor(words: string[]): Paint | undefined {
  const color = words.map(colorWord).find((name) => name !== null);
  return color ? paintOf(color) : undefined;
}

function traitsOf(words: string[]): Traits | null {
  const has = (one: string, two: string) => words.includes(one) || words.includes(two);
  if (!has("tall", "short") || !has("round", "square") || !has("hollow", "solid")) return null;
  return { tall: words.includes("tall"), round: words.includes("round"), hollow: words.includes("hollow") };
}

function thingPaint(thing: PieceName): Paint {
  switch (thing) {
    case "wall":
    case "block":
      return { fill: "#7d7466", line: "#f3efe6" };
    case "box":
      return { fill: "#c98d3f", line: "#4d2f08" };
    case "target":
      return { fill: "#b3402a", line: "#b3402a" };
    case "lamp":
      return { fill: "#f3d64e", line: "#5a4a00" };
    case "flame":
      return { fill: "#8a5a2b", line: "#331c07" };
    case "across":
    case "upright":
      return { fill: "var(--ink)", line: "var(--ink)" };
    case "queen":
    case "knight":
      return paintOf("white");
    default:
      return paintOf("blue");
  }
}

/** A text that fits into a cell. */
function shortText(piece: Piece, words: string[]): string {
  const own = words.join(" ");
  if (isNumber(own) || own.length <= 2) return own;
  return piece.glyph.trim() !== "" && piece.glyph !== "?" ? piece.glyph : own.slice(0, 3);
}
