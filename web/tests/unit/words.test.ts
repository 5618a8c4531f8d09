import { describe, expect, it } from "vitest";
import { pack, unpack } from "../../src/link";
import { fitting } from "../../src/parts/MoveEntry";
import { arrowsOf } from "../../src/parts/SearchPanel";
import { valuesOf } from "../../src/parts/ValueGraph";
import { href, parseRoute } from "../../src/route";
import type { GameSummary, Move, Report, Step } from "../../src/types";
import { matchesFilter } from "../../src/views/Gallery";
import { matchIdOf, readRecord } from "../../src/views/Records";
import { grouped, list, short, shownMoves, splitFacts } from "../../src/words";

describe("addresses", () => {
  it("survive a round trip", () => {
    const route = parseRoute(href(["match", "a/b ?"], { seat: "x&y" }));
    expect(route.path).toEqual(["match", "a/b ?"]);
    expect(route.query.get("seat")).toBe("x&y");
    expect(parseRoute("").path).toEqual([]);
    expect(parseRoute("#/%E0%A4%A").path).toEqual(["%E0%A4%A"]);
  });

  it("carry positions", async () => {
    const moves = JSON.stringify([["(move e 2 e 4)", "noop"], ["noop", "(märk ♞)"]]);
    const packed = await pack(moves);
    expect(packed).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(await unpack(packed)).toBe(moves);
    await expect(unpack("@@@")).rejects.toThrow();
  });

  it("of matches are found", () => {
    const id = "0123456789abcdef0123456789abcdef";
    expect(matchIdOf(`http://127.0.0.1:8147/#/match/${id}?seat=1`)).toBe(id);
    expect(matchIdOf("nothing")).toBeNull();
    expect(() => readRecord("(role x)")).toThrow(/not JSON/);
  });
});

const move = (text: string, kif = `(m ${text})`): Move => ({ id: 0, kif, text, from: null, to: null, cells: [] });

describe("typed moves", () => {
  it("find an exact one first, then beginnings, then parts", () => {
    const moves = ["ab", "a", "ba", "c"].map((text) => move(text));
    expect(fitting(moves, "A").map((fit) => fit.text)).toEqual(["a", "ab", "ba"]);
    expect(fitting(moves, " ")).toHaveLength(4);
    expect(fitting(moves, "(m c)").map((fit) => fit.text)).toEqual(["c"]);
  });
});

describe("words", () => {
  it("are short", () => {
    expect([999, 1234, 12_345, 2_500_000].map(short)).toEqual(["999", "1.2 k", "12 k", "2.5 M"]);
    expect(list(["Red", "Green", "Blue"])).toBe("Red, Green and Blue");
    expect(list(["Red"])).toBe("Red");
  });

  it("split facts into chips and tables", () => {
    const step = { name: "step", rows: [["5"]], role: null };
    const hand = { name: "has", rows: [["left", "1"], ["left", "2"], ["right", "1"]], role: null };
    expect(splitFacts([step, hand])).toEqual({ chips: [step], tables: [hand] });
    expect([...grouped(hand)!]).toEqual([["left", ["1", "2"]], ["right", ["1"]]]);
    expect(grouped({ name: "at", rows: [["a", "1"], ["b", "2"]], role: null })).toBeNull();
  });

  it("leave out moves that only wait", () => {
    const made = (role: number, kif: string, text: string) => ({ role, kif, text, from: null, to: null, cells: [] });
    const step: Step = { moves: [made(0, "(mark 1)", "1"), made(1, "noop", "-")], errors: [], thoughts: [null, { value: 40, playouts: 1, seconds: 1, stop: null }], seen: [], at: 0 };
    expect(shownMoves(step).map((shown) => shown.role)).toEqual([0]);
    expect(valuesOf([step, step], 1)).toEqual([[0, 40], [1, 40]]);
    expect(valuesOf([step], 0)).toEqual([]);
  });
});

describe("the gallery", () => {
  const game: GameSummary = {
    id: "nine_mens_morris", title: "Nine Men's Morris", description: "Place nine men", source: null, kind: "turn-taking",
    roles: [{ name: "white", title: "White", isChance: false }, { name: "black", title: "Black", isChance: false }], board: "square", cells: 24, tables: [], isHidden: false, canAnalyse: true,
  };
  const filter = { text: "", players: "", kind: "", board: "", size: "" };
  it("filters", () => {
    expect(matchesFilter(game, filter)).toBe(true);
    expect(matchesFilter(game, { ...filter, text: "nine men" })).toBe(true);
    expect(matchesFilter(game, { ...filter, text: "chess" })).toBe(false);
    expect(matchesFilter(game, { ...filter, players: "2", size: "small", board: "square", kind: "turn-taking" })).toBe(true);
    expect(matchesFilter(game, { ...filter, players: "3" })).toBe(false);
    expect(matchesFilter(game, { ...filter, size: "large" })).toBe(false);
  });
});

describe("arrows", () => {
  it("are those of the most visited moves on the board", () => {
    const row = (to: number | null, visits: number) => ({ kif: "", text: "", from: 0, to, visits, mean: 0, value: 0, rave: null, mast: null, heuristic: null, bounds: [0, 100] as [number, number], proven: null });
    const report = { moves: [row(1, 100), row(null, 90), row(2, 50), row(3, 1)] } as unknown as Report;
    expect(arrowsOf(report).map((arrow) => [arrow.to, arrow.weight])).toEqual([[1, 1], [2, 0.5]]);
    expect(arrowsOf(null)).toEqual([]);
  });
});
