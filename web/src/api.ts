// Requests to the server. Every failure becomes an `ApiError` with a sentence for people.

import type {
  CheckAnswer,
  Finding,
  GameInfo,
  GameSummary,
  Hover,
  Match,
  MatchRow,
  MatchSetup,
  Move,
  NewMatch,
  Ping,
  PlayerInfo,
  PlayerMatch,
  Position,
  Replay,
  Report,
  ServerInfo,
  StartPicture,
  Store,
  StoreEntry,
} from "./types";

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly kind: string,
    message: string,
    readonly retryAfter: number | null = null,
    readonly findings: Finding[] = [],
  ) {
    super(message);
  }
}

async function call<T>(path: string, options: { body?: unknown; token?: string; signal?: AbortSignal } = {}): Promise<T> {
  const headers: Record<string, string> = {};
  const init: RequestInit = { headers };
  if (options.token) headers["Agon-Token"] = options.token;
  if (options.signal) init.signal = options.signal;
  if (options.body !== undefined) {
    init.method = "POST";
    headers["Content-Type"] = "application/json";
    init.body = JSON.stringify(options.body);
  }
  let response: Response;
  try {
    response = await fetch(`/api/${path}`, init);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "unreachable", "The server does not answer. Is `agon web` still running?");
  }
  const text = await response.text();
  let body: unknown = null;
  try {
    body = text === "" ? null : JSON.parse(text);
  } catch {
    throw new ApiError(response.status, "internal", `The server's answer cannot be read (status ${response.status}).`);
  }
  if (!response.ok) {
    const fault = (body as { error?: { kind?: string; message?: string; retryAfter?: number | null; findings?: Finding[] }; findings?: Finding[] }) ?? {};
    throw new ApiError(
      response.status,
      fault.error?.kind ?? "internal",
      fault.error?.message ?? `The server answered with status ${response.status}.`,
      fault.error?.retryAfter ?? null,
      fault.findings ?? fault.error?.findings ?? [],
    );
  }
  return body as T;
}

const id = encodeURIComponent;

export const api = {
  server: () => call<ServerInfo>("server"),
  players: () => call<{ default: string; players: PlayerInfo[] }>("players"),
  games: () => call<{ games: GameSummary[] }>("games"),
  game: (game: string) => call<GameInfo>(`games/${id(game)}`),
  start: (game: string) => call<StartPicture>(`games/${id(game)}/start`),
  upload: (rules: string, metadata: string | null, name: string | null) =>
    call<GameInfo>("games", { body: { rules, metadata, name } }),
  position: (game: string, moves: string[][], signal?: AbortSignal) =>
    call<Position>("positions", { body: { game, moves }, ...(signal ? { signal } : {}) }),
  newMatch: (setup: MatchSetup) => call<NewMatch>("matches", { body: setup }),
  matches: () => call<{ matches: MatchRow[] }>("matches"),
  match: (match: string, token: string, step?: number, signal?: AbortSignal) =>
    call<Match>(`matches/${id(match)}${step === undefined ? "" : `?step=${step}`}`, { token, ...(signal ? { signal } : {}) }),
  move: (match: string, token: string, role: number, step: number, move: string | number) =>
    call<{ version: number; text: string }>(`matches/${id(match)}/move`, { token, body: { role, step, move } }),
  undo: (match: string, token: string, step?: number) =>
    call<{ version: number }>(`matches/${id(match)}/undo`, { token, body: step === undefined ? {} : { step } }),
  resign: (match: string, token: string, role: number) =>
    call<unknown>(`matches/${id(match)}/resign`, { token, body: { role } }),
  hint: (match: string, token: string, role: number, seconds: number) =>
    call<{ move: Move; report: Report }>(`matches/${id(match)}/hint`, { token, body: { role, seconds } }),
  control: (match: string, token: string, body: { isPaused?: boolean; pace?: number; steps?: number; end?: boolean }) =>
    call<unknown>(`matches/${id(match)}/control`, { token, body }),
  record: (match: string, token: string) => call<unknown>(`matches/${id(match)}/record`, { token }),
  analysis: (game: string, moves: string[][], player: string, role: number | null, seconds: number) =>
    call<{ id: string }>("analyses", { body: { game, moves, player, role, seconds } }),
  stopAnalysis: (analysis: string) => call<unknown>(`analyses/${id(analysis)}/stop`, { body: {} }),
  replay: (record: unknown, game: string | null, rules: string | null) =>
    call<Replay>("records", { body: { record, game, rules } }),
  check: (rules: string, metadata: string | null, signal?: AbortSignal) =>
    call<CheckAnswer>("check", { body: { rules, metadata }, ...(signal ? { signal } : {}) }),
  format: (rules: string) => call<{ rules: string }>("format", { body: { rules } }),
  hover: (rules: string, at: number) => call<Hover | null>("hover", { body: { rules, at } }),
  analyse: (rules: string, seconds: number) => call<{ id: string }>("analyse", { body: { rules, seconds } }),
  ping: (url: string) => call<Ping>("players/ping", { body: { url } }),
  stores: () => call<{ stores: StoreEntry[] }>("stores"),
  store: (store: string) => call<Store>(`stores/${id(store)}`),
  runTournament: (name: string, toml: string) => call<{ store: string }>("tournaments", { body: { name, toml } }),
  stopTournament: (store: string) => call<unknown>(`tournaments/${id(store)}/stop`, { body: {} }),
  player: () => call<{ url: string; matches: PlayerMatch[] }>("player"),
};

/** Listens to server-sent events until the returned function is called. */
export function listen(path: string, hear: Record<string, (data: unknown) => void>, lost?: () => void): () => void {
  const source = new EventSource(`/api/${path}`);
  for (const [name, act] of Object.entries(hear)) {
    source.addEventListener(name, (event) => {
      let data: unknown;
      try {
        data = JSON.parse((event as MessageEvent<string>).data);
      } catch {
        return;
      }
      act(data);
    });
  }
  // The browser connects again by itself, unless the server refused.
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED) lost?.();
  };
  return () => source.close();
}

/** Any failure as a sentence. */
export function sentence(error: unknown): string {
  if (error instanceof ApiError && error.kind === "busy" && error.retryAfter !== null) {
    return `${error.message} Try again in ${Math.ceil(error.retryAfter)} s.`;
  }
  return error instanceof Error ? error.message : String(error);
}
