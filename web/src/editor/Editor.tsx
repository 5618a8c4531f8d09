// The editor: CodeMirror with GDL, findings under the text, hover for what a name is.

import { useEffect, useRef } from "preact/hooks";
import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, indentOnInput } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, hoverTooltip, keymap, lineNumbers } from "@codemirror/view";
import { api } from "../api";
import type { Finding } from "../types";
import { gdl } from "./gdl";

export interface EditorHandle {
  text: () => string;
  set: (text: string) => void;
  /** Shows a place and puts the cursor there. */
  show: (from: number, to: number) => void;
  apply: (edits: { from: number; to: number; text: string }[]) => void;
  findings: (findings: Finding[]) => void;
}

interface Props {
  text: string;
  onChange: (text: string) => void;
  onReady: (handle: EditorHandle) => void;
}

const theme = EditorView.theme({
  "&": { height: "100%", fontSize: "0.88rem", backgroundColor: "var(--surface)", color: "var(--ink)" },
  ".cm-scroller": { fontFamily: "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace", lineHeight: "1.5" },
  ".cm-gutters": { backgroundColor: "var(--surface-2)", color: "var(--ink-3)", border: "none" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--accent) 8%, transparent)" },
  ".cm-activeLineGutter": { backgroundColor: "var(--surface-3)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "color-mix(in srgb, var(--accent) 28%, transparent) !important" },
  ".cm-matchingBracket": { backgroundColor: "var(--accent-soft) !important", outline: "1px solid var(--accent)" },
  ".cm-tooltip": { backgroundColor: "var(--surface)", color: "var(--ink)", border: "1px solid var(--line-strong)", borderRadius: "8px", padding: "2px" },
  ".cm-diagnosticAction": { backgroundColor: "var(--accent)", color: "var(--accent-ink)", borderRadius: "5px", padding: "2px 8px" },
  ".cm-panels": { backgroundColor: "var(--surface-2)", color: "var(--ink)" },
});

export function Editor({ text, onChange, onReady }: Props) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const view = new EditorView({
      parent: box.current!,
      state: EditorState.create({
        doc: text,
        extensions: [
          lineNumbers(),
          lintGutter(),
          history(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          closeBrackets(),
          highlightActiveLine(),
          highlightActiveLineGutter(),
          highlightSelectionMatches(),
          EditorView.lineWrapping,
          keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...lintKeymap, indentWithTab]),
          gdl(),
          hover,
          theme,
          EditorView.contentAttributes.of({ tabindex: "0", "aria-label": "Rules of the game in GDL; Escape, then Tab, leaves the editor", spellcheck: "false" }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) onChange(update.state.doc.toString());
          }),
        ],
      }),
    });
    onReady(handleOf(view));
    return () => view.destroy();
  }, []);
  return <div class="editor" ref={box} />;
}

function handleOf(view: EditorView): EditorHandle {
  const clamp = (at: number) => Math.max(0, Math.min(at, view.state.doc.length));
  return {
    text: () => view.state.doc.toString(),
    set: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }),
    show: (from, to) => {
      view.dispatch({ selection: { anchor: clamp(from), head: clamp(to) }, scrollIntoView: true });
      view.focus();
    },
    apply: (edits) => view.dispatch({ changes: edits.map((edit) => ({ from: clamp(edit.from), to: clamp(edit.to), insert: edit.text })) }),
    findings: (findings) => {
      const diagnostics = findings.filter((finding) => finding.line > 0).map((finding) => diagnosticOf(finding, clamp));
      view.dispatch(setDiagnostics(view.state, diagnostics));
    },
  };
}

function diagnosticOf(finding: Finding, clamp: (at: number) => number): Diagnostic {
  const from = clamp(finding.from);
  return {
    from,
    to: Math.max(from, clamp(finding.to)),
    severity: finding.severity === "error" ? "error" : "warning",
    source: finding.kind,
    message: finding.help ? `${finding.message}\n${finding.help}` : finding.message,
    actions: finding.fixes.map((fix) => ({
      name: fix.title,
      apply: (view) => view.dispatch({ changes: fix.edits.map((edit) => ({ from: clamp(edit.from), to: clamp(edit.to), insert: edit.text })) }),
    })),
  };
}

/** What the name under the pointer is. */
const hover = hoverTooltip(
  async (view, at) => {
    const answer = await api.hover(view.state.doc.toString(), at).catch(() => null);
    if (!answer) return null;
    return {
      pos: answer.from,
      end: answer.to,
      above: true,
      create: () => {
        const dom = document.createElement("div");
        dom.className = "hover";
        const title = dom.appendChild(document.createElement("strong"));
        title.textContent = answer.title;
        for (const line of answer.text) {
          const row = dom.appendChild(document.createElement("div"));
          row.textContent = line;
        }
        return { dom };
      },
    };
  },
  { hoverTime: 250 },
);
