// The answers that the tests of the server wrote are what the page expects. `crates/web/api` has one file per endpoint.

import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type * as Api from "../../src/types";
import { anything, exactly, many, maybe, number, one, optional, text, truth, type Check } from "./schema";

const role = exactly<Api.Role>({ name: text, title: text, isChance: truth });
const label = exactly<Api.Label>({ text, at: number });
const part = exactly<Api.Part>({ title: maybe(text), x: number, y: number, width: number, height: number, columns: many(label), rows: many(label) });
const cell = exactly<Api.Cell>({ name: text, part: number, column: number, row: number, x: number, y: number, tone: one(0, 1) });
const boardKind = one("square", "hex", "boards", "space", "none");
const layout = exactly<Api.Layout>({ kind: boardKind, width: number, height: number, parts: many(part), cells: many(cell) });
const shape = one("king", "queen", "rook", "bishop", "knight", "pawn", "man", "crown", "disc", "cross", "ring", "wall", "mark", "floor", "text");
const piece = exactly<Api.Piece>({ cell: number, glyph: text, name: text, title: text, shape, role: maybe(number), layer: number });
const facts = exactly<Api.Facts>({ name: text, rows: many(many(text)), role: maybe(number) });
const move = exactly<Api.Move>({ id: number, kif: text, text, from: maybe(number), to: maybe(number), cells: many(number) });
const made = exactly<Api.MadeMove>({ role: number, kif: text, text, from: maybe(number), to: maybe(number), cells: many(number) });
const goals = maybe(many(maybe(number)));
const state = exactly<Api.State>({
  step: number, pieces: many(piece), facts: many(facts), turn: many(number), moves: many(many(move)), last: maybe(many(made)),
  isTerminal: truth, goals,
});
const summary = {
  id: text, title: text, description: text, source: maybe(text), kind: maybe(one("turn-taking", "simultaneous", "single-player")),
  roles: many(role), board: boardKind, cells: number, tables: many(text), isHidden: truth, canAnalyse: truth,
};
const gameInfo = exactly<Api.GameInfo>({
  ...summary, layout, start: state, rules: text, engine: one("network", "interpreter"), noBoardReason: maybe(text), isTrained: truth,
});
const thought = exactly<Api.Thought>({ value: maybe(number), playouts: number, seconds: number, stop: maybe(text) });
const step = exactly<Api.Step>({ moves: many(made), errors: many(text), thoughts: many(maybe(thought)), seen: many(exactly<Api.Step["seen"][number]>({ role: number, percepts: many(text) })), at: number });
const ending = exactly<Api.Ending>({ kind: text, text, goals, winners: many(number) });
const seat = exactly<Api.Seat>({
  role: number, kind: one("person", "bot", "chance", "remote"), name: text, status: one("idle", "to-move", "chosen", "queued", "thinking"),
  place: maybe(number), nFaults: number,
});
const match = exactly<Api.Match>({
  id: text, version: number, game: text, title: text, roles: many(role), layout, status: one("preparing", "running", "paused", "over"),
  seats: many(seat), you: many(number), isOwner: truth, state, history: many(step),
  clocks: exactly<Api.Match["clocks"]>({ start: number, play: number, playouts: maybe(number), person: maybe(number) }),
  deadline: maybe(number), pace: number, canUndo: truth, canResign: truth, canAnalyse: truth, hides: truth, ending: maybe(ending), started: number,
});
const moveReport = exactly<Api.MoveReport>({
  kif: text, text, from: maybe(number), to: maybe(number), visits: number, mean: number, value: number, rave: maybe(number), mast: maybe(number),
  heuristic: maybe(number), bounds: many(number), proven: maybe(number),
});
const report = exactly<Api.Report>({
  role: number, step: number, isDone: truth, stop: maybe(text), playouts: number, transitions: number, seconds: number,
  playoutsPerSecond: number, share: number, value: maybe(number), moves: many(moveReport), line: many(many(made)),
  techniques: many(exactly<Api.Report["techniques"][number]>({ name: text, status: one("on", "off", "undecided"), text })),
  tree: maybe(exactly<NonNullable<Api.Report["tree"]>>({ nodes: number, bytes: number, deepest: number, meanDepth: number, meanPlayout: number })),
});
const edit = exactly<Api.Edit>({ from: number, to: number, text });
const finding = exactly<Api.Finding>({
  severity: one("error", "warning"), kind: text, message: text, help: maybe(text), line: number, column: number, from: number, to: number,
  labels: many(exactly<Api.Finding["labels"][number]>({ from: number, to: number, text })),
  fixes: many(exactly<Api.Finding["fixes"][number]>({ title: text, edits: many(edit) })),
});
const storeRow = exactly<Api.StoreRow>({
  game: text, first: text, second: text, budget: text, nMatches: number, wins: number, draws: number, losses: number, mean: number, low: number,
  high: number, elo: maybe(number), eloLow: maybe(number), eloHigh: maybe(number), verdict: maybe(text), nFaults: number,
});

/** The check of each file, by its name. */
const files: Record<string, Check> = {
  server: exactly<Api.ServerInfo>({
    version: text, isLoopback: truth, cores: number,
    limits: exactly<Api.ServerInfo["limits"]>({ matches: number, searches: number, clock: number, rulesBytes: number, recordBytes: number }),
    player: maybe(exactly<{ url: string }>({ url: text })),
    load: exactly<Api.ServerInfo["load"]>({ matches: number, searching: number, waiting: number }),
  }),
  players: exactly<{ default: string; players: Api.PlayerInfo[] }>({ default: text, players: many(exactly<Api.PlayerInfo>({ name: text, about: text })) }),
  games: exactly<{ games: Api.GameSummary[] }>({ games: many(exactly<Api.GameSummary>(summary)) }),
  game: gameInfo,
  start: exactly<Api.StartPicture>({ id: text, layout, pieces: many(piece) }),
  upload: gameInfo,
  position: exactly<Api.Position>({ game: text, state, path: many(many(made)) }),
  "new-match": exactly<Api.NewMatch>({ id: text, owner: text, seats: many(exactly<Api.NewMatch["seats"][number]>({ role: number, kind: text, token: maybe(text) })) }),
  matches: exactly<{ matches: Api.MatchRow[] }>({
    matches: many(exactly<Api.MatchRow>({
      id: text, game: text, title: text, players: many(text), roles: many(role), status: text, step: number, goals, started: number,
    })),
  }),
  match,
  move: exactly<{ version: number; text: string }>({ version: number, text }),
  hint: exactly<{ move: Api.Move; report: Api.Report }>({ move, report }),
  report,
  replay: exactly<Api.Replay>({
    game: text, title: text, roles: many(role), layout, canAnalyse: truth, players: many(text), history: many(step), goals, ending: maybe(ending), started: number,
    isValid: truth, problem: maybe(text), moves: many(many(text)),
  }),
  check: exactly<Api.CheckAnswer>({ ok: truth, roles: many(text), findings: many(finding) }),
  format: exactly<{ rules: string }>({ rules: text }),
  hover: exactly<Api.Hover>({
    from: number, to: number, name: text, title: text, text: many(text), kind: text, arity: number,
    definitions: many(exactly<{ line: number; column: number }>({ line: number, column: number })), nUses: number,
  }),
  analyse: exactly<Api.AnalyseResult>({
    text, isGood: truth, findings: many(exactly<Api.AnalyseResult["findings"][number]>({ ok: truth, name: text, text })),
  }),
  ping: exactly<Api.Ping>({ status: text, name: maybe(text), reason: optional(text) }),
  stores: exactly<{ stores: Api.StoreEntry[] }>({ stores: many(exactly<Api.StoreEntry>({ id: text, nMatches: number, isRunning: truth })) }),
  store: exactly<Api.Store>({
    id: text, nMatches: number, isRunning: truth, progress: maybe(exactly<{ done: number; total: number }>({ done: number, total: number })),
    problem: maybe(text), tables: many(exactly<Api.StoreTable>({ title: text, columns: many(text), rows: many(storeRow) })),
  }),
  error: exactly<{ error: unknown }>({ error: anything }),
};

const folder = new URL("../../../crates/web/api/", import.meta.url);
const found = readdirSync(folder).filter((name) => name.endsWith(".json"));

describe("an answer of the server", () => {
  it("is there", () => expect(found.length).toBeGreaterThan(5));
  it.each(found)("%s fits the types of the page", (name) => {
    const check = files[name.replace(/\.json$/, "")];
    expect(check, `add a check for ${name}`).toBeDefined();
    expect(check!(JSON.parse(readFileSync(new URL(name, folder), "utf8")), name)).toEqual([]);
  });

  it("that differs is noticed", () => {
    expect(role({ name: "x", title: 5, isChance: false }, "role")).toEqual(["role.title: 5 is not text"]);
    expect(role({ name: "x", title: "X", isChance: false, extra: 1 }, "role")).toEqual(["role.extra is not known"]);
    expect(goals([null, 100], "goals")).toEqual([]);
  });
});
