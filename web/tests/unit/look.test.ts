import { describe, expect, it } from "vitest";
import { colorWord, inkOn, roleColors } from "../../src/board/colors";
import { lookOf } from "../../src/board/look";
import type { Piece, Shape } from "../../src/types";

const colors = roleColors(["white", "black"]);
const piece = (shape: Shape, name: string, role: number | null = null, glyph = "?"): Piece => ({
  cell: 0,
  glyph,
  name,
  title: name,
  shape,
  role,
  layer: 0,
});

describe("a look", () => {
  it("is a drawing in the colour of the owner", () => {
    expect(lookOf(piece("knight", "black knight", 1), colors)).toMatchObject({ as: "piece", name: "knight", paint: { fill: colors[1]!.fill } });
    expect(lookOf(piece("crown", "white king", 0), colors)).toMatchObject({ name: "crownedMan", paint: { fill: colors[0]!.fill } });
    expect(lookOf(piece("ring", "o"), colors)).toMatchObject({ as: "piece", name: "nought" });
  });

  it("knows things by their words", () => {
    expect(lookOf(piece("text", "keeper_at"), colors)).toMatchObject({ as: "piece", name: "figure" });
    expect(lookOf(piece("text", "box_2"), colors)).toMatchObject({ as: "piece", name: "box" });
    expect(lookOf(piece("disc", "red"), colors)).toMatchObject({ as: "piece", name: "disc" });
  });

  it("draws pieces by their traits", () => {
    const look = lookOf(piece("text", "tall dark square hollow"), colors);
    expect(look).toMatchObject({ as: "traits", traits: { tall: true, round: false, hollow: true } });
  });

  it("falls back to text", () => {
    expect(lookOf(piece("text", "12"), colors)).toEqual({ as: "text", text: "12", paint: null });
    expect(lookOf(piece("text", "gargoyle", null, "g"), colors)).toMatchObject({ as: "text", text: "g" });
    expect(lookOf(piece("text", "gargoyle"), colors)).toMatchObject({ as: "text", text: "gar" });
    expect(lookOf(piece("text", "constructor", null, "c"), colors)).toMatchObject({ as: "text", text: "c" });
  });
});

describe("colours of roles", () => {
  it("follow names and never repeat", () => {
    expect(roleColors(["red", "green", "blue"]).map((color) => color.name)).toEqual(["red", "green", "blue"]);
    const six = roleColors(["a", "b", "c", "d", "e", "f"]);
    expect(new Set(six.map((color) => color.fill)).size).toBe(6);
    expect(roleColors(["x", "orange"])[0]!.name).not.toBe("orange");
  });

  it("differ in a sign too, unless they are black and white", () => {
    const signs = roleColors(["red", "green", "blue"]).map((color) => color.sign);
    expect(new Set(signs).size).toBe(3);
    expect(colors.map((color) => color.sign)).toEqual([undefined, undefined]);
  });

  // Simulated by the matrices of Viénot, Brettel and Mollon (1999), on linear values.
  it("differ for people with colour blindness", () => {
    const linear = (hex: string) => [1, 3, 5].map((at) => (Number.parseInt(hex.slice(at, at + 2), 16) / 255) ** 2.2);
    const matrices = {
      protan: [[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]],
      deutan: [[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]],
    };
    const seen = (hex: string, matrix: number[][]) => {
      const rgb = linear(hex);
      return matrix.map((row) => Math.max(0, row.reduce((sum, weight, idx) => sum + weight * rgb[idx]!, 0)) ** (1 / 2.2));
    };
    for (const names of [["red", "blue"], ["white", "black"], ["x", "o"], ["a", "b", "c"], ["red", "green", "blue"]]) {
      const fills = roleColors(names).map((color) => color.fill);
      for (const matrix of Object.values(matrices)) {
        for (let one = 0; one < fills.length; one++) {
          for (let two = one + 1; two < fills.length; two++) {
            const [first, second] = [seen(fills[one]!, matrix), seen(fills[two]!, matrix)];
            const distance = Math.hypot(...first.map((value, idx) => value - second[idx]!));
            expect(distance, `${names[one]} ${names[two]}`).toBeGreaterThan(0.12);
          }
        }
      }
    }
  });

  it("reads colour words", () => {
    expect(colorWord("RedPlayer")).toBe("red");
    expect(colorWord("teal")).toBe("sky");
    expect(colorWord("toString")).toBeNull();
    expect(inkOn("#ffffff")).toBe("#14191c");
    expect(inkOn("#1f78b8")).toBe("#ffffff");
  });
});
