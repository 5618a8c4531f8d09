// Highlighting of GDL in both syntaxes, prefix and infix.

import { HighlightStyle, LanguageSupport, StreamLanguage, syntaxHighlighting, type StringStream } from "@codemirror/language";
import { tags } from "@lezer/highlight";

const keywords = new Set(["role", "init", "true", "does", "next", "legal", "goal", "terminal", "base", "input", "sees", "random"]);
const logic = new Set(["not", "or", "and", "distinct"]);

interface State {
  depth: number;
}

/** The kind of the next token. */
export function token(stream: StringStream, state: State): string | null {
  if (stream.eatSpace()) return null;
  if (stream.match(/^;.*/) || stream.match(/^%.*/)) return "comment";
  if (stream.match("<=") || stream.match(":-")) return "operator";
  if (stream.match(/^[()[\]]/)) {
    state.depth += stream.current() === "(" ? 1 : -1;
    return "bracket";
  }
  if (stream.match(/^\?[^\s()]*/)) return "variableName";
  if (stream.match(/^"[^"]*"?/)) return "string";
  if (stream.match(/^-?\d+(?=[\s(),.;]|$)/)) return "number";
  if (stream.match(/^[&|~,.]/)) return "operator";
  if (stream.match(/^[^\s()?;,]+/)) {
    const word = stream.current().toLowerCase();
    if (keywords.has(word)) return "keyword";
    if (logic.has(word)) return "controlKeyword";
    return /^[A-Z][A-Za-z0-9_]*$/.test(stream.current()) ? "variableName" : "propertyName";
  }
  stream.next();
  return null;
}

const language = StreamLanguage.define<State>({
  name: "gdl",
  startState: () => ({ depth: 0 }),
  token,
  languageData: { commentTokens: { line: ";" }, closeBrackets: { brackets: ["("] } },
  indent: (state, textAfter) => (/^\s*\)/.test(textAfter) ? Math.max(0, state.depth - 1) : Math.max(0, state.depth)) * 2,
});

const colors = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--code-keyword)", fontWeight: "600" },
  { tag: tags.controlKeyword, color: "var(--code-logic)", fontWeight: "600" },
  { tag: tags.operator, color: "var(--code-logic)", fontWeight: "600" },
  { tag: tags.variableName, color: "var(--code-variable)" },
  { tag: tags.number, color: "var(--code-number)" },
  { tag: tags.string, color: "var(--code-number)" },
  { tag: tags.comment, color: "var(--code-comment)", fontStyle: "italic" },
  { tag: tags.bracket, color: "var(--ink-3)" },
]);

export const gdl = () => new LanguageSupport(language, [syntaxHighlighting(colors)]);
