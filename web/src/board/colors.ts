// Colours of roles. They are those of Okabe and Ito (2008), which people with any kind of colour vision can tell apart;
// a role that is called by a colour gets that one.

import type { Paint, PieceName } from "./pieces";

export interface RoleColor extends Paint {
  /** A colour for bars and lines that is readable on the page in both themes. */
  name: string;
  /** What stands for the role: its mark where it is called by one, otherwise a disc. */
  shape: PieceName;
}

const named: Record<string, [fill: string, line: string]> = {
  white: ["#fbfaf5", "#39424a"],
  black: ["#262c30", "#c9cfcb"],
  red: ["#d1491b", "#4a1503"],
  blue: ["#1f78b8", "#062b47"],
  green: ["#0d9a72", "#02382a"],
  yellow: ["#f0dc42", "#5a5000"],
  orange: ["#e69f00", "#533900"],
  purple: ["#b45f96", "#451436"],
  sky: ["#63bbea", "#0b3a55"],
  grey: ["#8d979c", "#2b3236"],
  brown: ["#8c5a33", "#33190a"],
};

const alias: Record<string, string> = {
  pink: "purple",
  magenta: "purple",
  violet: "purple",
  teal: "sky",
  cyan: "sky",
  teel: "sky",
  gray: "grey",
  silver: "grey",
  gold: "yellow",
  light: "white",
  dark: "black",
};

/** The order in which roles without a colour of their own get one. */
const order = ["blue", "orange", "green", "purple", "yellow", "sky", "brown", "grey", "red"];

/** The colour that a word names, if it names one. */
export function colorWord(word: string): string | null {
  const plain = word.toLowerCase().replace(/(player|_?\d+)$/, "");
  if (Object.hasOwn(named, plain)) return plain;
  return Object.hasOwn(alias, plain) ? (alias[plain] ?? null) : null;
}

/** One colour per role, all different as long as there are enough. */
export function roleColors(roles: string[]): RoleColor[] {
  const taken = new Set<string>();
  const own = roles.map((role) => {
    const name = colorWord(role);
    if (name === null || taken.has(name)) return null;
    taken.add(name);
    return name;
  });
  const free = order.filter((name) => !taken.has(name) && !(name === "orange" && taken.has("red")));
  let next = 0;
  return own.map((name, idx) => {
    const color = name ?? free[next++ % free.length]!;
    return { ...paintOf(color), name: color, shape: shapeOf(roles[idx]!), sign: signOf(color, idx, roles.length) };
  });
}

function shapeOf(role: string): PieceName {
  if (/^x(_?player)?$/i.test(role)) return "cross";
  return /^o(_?player)?$/i.test(role) ? "nought" : "disc";
}

/** Signs are for colours only; black and white differ enough. */
function signOf(color: string, idx: number, n: number): number | undefined {
  if (color === "white" || color === "black" || n === 1) return undefined;
  return (idx % 6) + 1;
}

export function paintOf(color: string): Paint {
  const [fill, line] = named[color] ?? named.grey!;
  return { fill, line };
}

/** Black or white, whichever is easier to read on a colour. */
export function inkOn(fill: string): string {
  const channel = (at: number) => {
    const value = Number.parseInt(fill.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  const luminance = 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
  return luminance > 0.3 ? "#14191c" : "#ffffff";
}

/** A colour for a content that belongs to nobody: always the same for the same word. */
export function wordPaint(word: string): Paint {
  const own = colorWord(word);
  if (own !== null) return paintOf(own);
  let hash = 7;
  for (const letter of word) hash = (hash * 31 + letter.codePointAt(0)!) >>> 0;
  return paintOf(order[hash % order.length]!);
}
