// What the browser keeps: the theme, sound, tokens of seats, drafts of the editor. Storage may be off or full; then nothing
// is kept, and the pages work all the same.

export function load<T>(key: string, otherwise: T): T {
  try {
    const text = localStorage.getItem(`agon.${key}`);
    return text === null ? otherwise : (JSON.parse(text) as T);
  } catch {
    return otherwise;
  }
}

export function save(key: string, value: unknown): void {
  try {
    localStorage.setItem(`agon.${key}`, JSON.stringify(value));
  } catch {
    // Not kept.
  }
}

export interface Tokens {
  owner: string | null;
  /** Seats that this browser plays: role and token. */
  mine: Record<number, string>;
  /** Seats of others, to share as links. */
  others: Record<number, string>;
  at: number;
}

export interface Upload {
  id: string;
  rules: string;
  metadata: string | null;
  name: string | null;
}

/** Rules that were uploaded last; the server may forget them. */
export const uploads = (): Upload[] => load<Upload[]>("uploads", []);

export function keepUpload(upload: Upload): void {
  save("uploads", [upload, ...uploads().filter((other) => other.id !== upload.id)].slice(0, 5));
}

const MOST_MATCHES = 100;

const noTokens = (): Tokens => ({ owner: null, mine: {}, others: {}, at: Date.now() });

export function tokensOf(match: string): Tokens {
  const all = load<Record<string, Tokens>>("tokens", {});
  return Object.hasOwn(all, match) ? all[match]! : noTokens();
}

export function keepTokens(match: string, tokens: Tokens): void {
  const all = load<Record<string, Tokens>>("tokens", {});
  all[match] = { ...tokens, at: Date.now() };
  const newest = Object.entries(all).sort(([, one], [, two]) => two.at - one.at);
  save("tokens", Object.fromEntries(newest.slice(0, MOST_MATCHES)));
}

/** All tokens of a match that this browser acts with, as the header wants them. */
export function tokenText(tokens: Tokens): string {
  return [tokens.owner, ...Object.values(tokens.mine)].filter((token) => token !== null && token !== "").join(",");
}
