// Write a game: rules on the left with findings as you type, the board beside them, analysis, then play. Drafts stay in the
// browser until they are saved as a file.

import { useEffect, useRef, useState } from "preact/hooks";
import { api, ApiError, listen, sentence } from "../api";
import { Board } from "../board/Board";
import { roleColors } from "../board/colors";
import { Editor, type EditorHandle } from "../editor/Editor";
import { FactsView } from "../parts/FactsView";
import { Icon } from "../parts/Icon";
import { download } from "../parts/export";
import { useLatest } from "../parts/load";
import { go } from "../route";
import { keepUpload, load, save } from "../storage";
import type { AnalyseResult, Finding, GameInfo } from "../types";
import { plural } from "../words";

const example = `; Two players take turns to mark a cell; two in a row of three win.
(role left)
(role right)

(index 1) (index 2) (index 3)
(succ 1 2) (succ 2 3)

(<= (base (cell ?x ?y ?mark)) (index ?x) (index ?y) (mark ?mark))
(mark left) (mark right) (mark blank)
(base (control left))
(base (control right))

(<= (init (cell ?x ?y blank)) (index ?x) (index ?y))
(init (control left))

(<= (legal ?r (put ?x ?y)) (true (control ?r)) (true (cell ?x ?y blank)))
(<= (legal left noop) (true (control right)))
(<= (legal right noop) (true (control left)))

(<= (next (cell ?x ?y ?r)) (does ?r (put ?x ?y)))
(<= (next (cell ?x ?y ?mark)) (true (cell ?x ?y ?mark)) (not (changed ?x ?y)))
(<= (changed ?x ?y) (does ?_r (put ?x ?y)))
(<= (next (control right)) (true (control left)))
(<= (next (control left)) (true (control right)))

(<= (pair ?r) (role ?r) (true (cell ?x ?y ?r)) (true (cell ?next ?y ?r)) (succ ?x ?next))
(<= (pair ?r) (role ?r) (true (cell ?x ?y ?r)) (true (cell ?x ?next ?r)) (succ ?y ?next))
(<= open (true (cell ?_x ?_y blank)))
(<= someone (pair ?_r))

(<= terminal someone)
(<= terminal (not open))
(<= (goal ?r 100) (pair ?r))
(<= (goal ?r 0) (role ?r) (not (pair ?r)) someone)
(<= (goal ?r 50) (role ?r) (not someone))
`;

/** Time after the last key until the rules are checked. */
const PAUSE = 120;

interface Draft {
  rules: string;
  metadata: string;
  name: string;
}

export function Write({ game }: { game: string | null }) {
  const [draft, setDraft] = useState<Draft | null>(() => (game === null ? load<Draft>("draft", { rules: example, metadata: "", name: "my_game.kif" }) : null));
  const [error, setError] = useState<string | null>(null);
  useEffect(() => {
    if (game === null) return;
    api.game(game).then(
      (info) => setDraft({ rules: info.rules, metadata: "", name: `${game.startsWith("u-") ? "my_game" : game}.kif` }),
      (fault: unknown) => setError(sentence(fault)),
    );
  }, [game]);
  if (error) return <p class="page note bad">{error}</p>;
  return draft ? <Workbench key={game ?? ""} initial={draft} /> : <p class="page muted">Loading …</p>;
}

function Workbench({ initial }: { initial: Draft }) {
  const [draft, setDraft] = useState(initial);
  const [findings, setFindings] = useState<Finding[]>([]);
  const [isOk, setOk] = useState<boolean | null>(null);
  const [info, setInfo] = useState<GameInfo | null>(null);
  const [note, setNote] = useState<{ text: string; isBad: boolean } | null>(null);
  const [isMetadata, setMetadata] = useState(initial.metadata !== "");
  const editor = useRef<EditorHandle | null>(null);
  const metadata = draft.metadata.trim() === "" ? null : draft.metadata;

  useEffect(() => save("draft", draft), [draft]);
  useCheck(draft.rules, metadata, {
    found: (list, ok) => {
      setFindings(inOrder(list));
      setOk(ok);
      editor.current?.findings(list);
    },
    drawn: setInfo,
    failed: (text) => setNote(text === null ? null : { text, isBad: true }),
  });

  const act = (work: () => Promise<string | null>) => async () => {
    try {
      const text = await work();
      setNote(text === null ? null : { text, isBad: false });
    } catch (fault) {
      setNote({ text: sentence(fault), isBad: true });
    }
  };
  const format = act(async () => {
    const { rules } = await api.format(editor.current!.text());
    if (rules !== editor.current!.text()) editor.current!.set(rules);
    return null;
  });
  const play = act(async () => {
    const game = await api.upload(draft.rules, metadata, draft.name);
    keepUpload({ id: game.id, rules: draft.rules, metadata, name: draft.name });
    go(["new", game.id]);
    return null;
  });
  const open = async (file: File | undefined) => {
    if (!file) return;
    const text = await file.text();
    if (file.name.endsWith(".toml")) {
      setMetadata(true);
      setDraft({ ...draft, metadata: text });
    } else {
      setDraft({ ...draft, name: file.name });
      editor.current!.set(text);
    }
  };

  return (
    <div
      class="page write"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        for (const file of event.dataTransfer?.files ?? []) void open(file);
      }}
    >
      <div class="row between write-head">
        <h1>Write a game</h1>
        <div class="row">
          <label class="button">
            <Icon name="open" /> Open
            <input class="visually-hidden" type="file" multiple accept=".kif,.gdl,.toml,.txt" onChange={(event) => {
              for (const file of event.currentTarget.files ?? []) void open(file);
              event.currentTarget.value = "";
            }} />
          </label>
          <button type="button" class="button" onClick={() => download(draft.name, draft.rules)}>
            <Icon name="save" /> Save
          </button>
          <button type="button" class="button" onClick={() => void format()}>
            Format
          </button>
          <button type="button" class="button" onClick={() => editor.current?.set(example)}>
            Example
          </button>
          <button type="button" class="button primary" disabled={isOk !== true} onClick={() => void play()}>
            <Icon name="play" /> Play it
          </button>
        </div>
      </div>
      {note && (
        <div class={note.isBad ? "note bad" : "note"} role={note.isBad ? "alert" : "status"}>
          {note.text}
        </div>
      )}
      <div class="write-main">
        <div class="write-left">
          <Editor
            text={initial.rules}
            onChange={(rules) => setDraft((old) => ({ ...old, rules }))}
            onReady={(handle) => {
              editor.current = handle;
            }}
          />
          <details open={isMetadata} class="metadata">
            <summary>Metadata (.toml): titles, board, notation</summary>
            <textarea
              class="input mono"
              rows={8}
              aria-label="Metadata in TOML"
              spellcheck={false}
              placeholder={'title = "My game"'}
              value={draft.metadata}
              onInput={(event) => setDraft({ ...draft, metadata: event.currentTarget.value })}
            />
          </details>
        </div>
        <div class="write-right stack">
          <Findings findings={findings} isOk={isOk} onShow={(finding) => editor.current?.show(finding.from, finding.to)} onFix={(fix) => editor.current?.apply(fix.edits)} />
          <Preview info={info} isOk={isOk} />
          <RulesAnalysis rules={draft.rules} isOk={isOk === true} />
        </div>
      </div>
    </div>
  );
}

/** Errors first, then by place. */
function inOrder(findings: Finding[]): Finding[] {
  const rank = (finding: Finding) => (finding.severity === "error" ? 0 : 1);
  return [...findings].sort((one, two) => rank(one) - rank(two) || one.line - two.line || one.column - two.column);
}

interface Hear {
  found: (findings: Finding[], ok: boolean) => void;
  drawn: (info: GameInfo) => void;
  failed: (text: string | null) => void;
}

/** Checks soon after the last key, and draws the board of rules without errors. */
function useCheck(rules: string, metadata: string | null, hear: Hear) {
  const found = useLatest(hear.found);
  const drawn = useLatest(hear.drawn);
  const failed = useLatest(hear.failed);
  useEffect(() => {
    const abort = new AbortController();
    const check = async () => {
      try {
        const answer = await api.check(rules, metadata, abort.signal);
        if (abort.signal.aborted) return;
        found(answer.findings, answer.ok);
        failed(null);
        if (!answer.ok) return;
        const info = await api.upload(rules, metadata, null);
        if (!abort.signal.aborted) drawn(info);
      } catch (fault) {
        if (abort.signal.aborted) return;
        failed(fault instanceof ApiError && fault.kind === "bad-rules" ? null : sentence(fault));
      }
    };
    const timer = setTimeout(() => void check(), PAUSE);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [rules, metadata]);
}

function Findings(props: { findings: Finding[]; isOk: boolean | null; onShow: (finding: Finding) => void; onFix: (fix: Finding["fixes"][number]) => void }) {
  const { findings } = props;
  const errors = findings.filter((finding) => finding.severity === "error").length;
  const warnings = findings.length - errors;
  return (
    <section class="card stack" aria-label="Findings">
      <h2 class="row">
        {props.isOk === true ? <span class="badge good">can be played</span> : props.isOk === false ? <span class="badge bad">cannot be played</span> : <span class="badge">checking</span>}
        <span class="small muted" role="status">
          {plural(errors, "error")}, {plural(warnings, "warning")}
        </span>
      </h2>
      {findings.length > 0 && (
        <ul class="findings">
          {findings.map((finding, idx) => (
            <li key={idx} class={`finding ${finding.severity}`} data-kind={finding.kind} data-line={finding.line} data-column={finding.column}>
              <button type="button" class="finding-place" disabled={finding.line === 0} onClick={() => props.onShow(finding)}>
                <span class="finding-kind">
                  {finding.severity}[{finding.kind}]
                </span>
                {finding.line > 0 && (
                  <span class="mono">
                    {finding.line}:{finding.column}
                  </span>
                )}
              </button>
              <p class="finding-message">{finding.message}</p>
              {finding.help && <p class="small muted">{finding.help}</p>}
              {finding.fixes.map((fix) => (
                <button key={fix.title} type="button" class="button small" onClick={() => props.onFix(fix)}>
                  <Icon name="check" /> {fix.title}
                </button>
              ))}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Preview({ info, isOk }: { info: GameInfo | null; isOk: boolean | null }) {
  if (!info) return null;
  const colors = roleColors(info.roles.map((role) => role.name));
  const hasBoard = info.layout.kind !== "none" && info.layout.cells.length > 0;
  return (
    <section class={isOk === false ? "card stack stale" : "card stack"} aria-label="Start of the game">
      <h2>{isOk === false ? "Board of the last valid rules" : "Start"}</h2>
      {hasBoard ? (
        <Board layout={info.layout} pieces={info.start.pieces} colors={colors} title="Start of the game" />
      ) : (
        <p class="small muted">{info.noBoardReason ?? "No board was found in the rules; states are shown as tables."}</p>
      )}
      <FactsView facts={info.start.facts} roles={info.roles} colors={colors} />
      <p class="small muted">
        {plural(info.roles.length, "role")}: {info.roles.map((role) => role.title).join(", ")} · {info.start.moves.map((moves) => moves.length).join(" × ")} legal moves
        {info.engine === "interpreter" ? " · played by the interpreter" : ""}
      </p>
    </section>
  );
}

function RulesAnalysis({ rules, isOk }: { rules: string; isOk: boolean }) {
  const [progress, setProgress] = useState<{ done: number; text: string } | null>(null);
  const [result, setResult] = useState<AnalyseResult | null>(null);
  const [error, setError] = useState<string | null>(null);
  const close = useRef<(() => void) | null>(null);
  useEffect(() => () => close.current?.(), []);
  const start = async () => {
    setResult(null);
    setError(null);
    setProgress({ done: 0, text: "starting" });
    try {
      const { id } = await api.analyse(rules, 5);
      const stop = listen(
        `analyse/${encodeURIComponent(id)}/events`,
        {
          progress: (data) => setProgress(data as { done: number; text: string }),
          result: (data) => setResult(data as AnalyseResult),
          end: () => {
            setProgress(null);
            stop();
          },
        },
        () => setProgress(null),
      );
      close.current = stop;
    } catch (fault) {
      setProgress(null);
      setError(sentence(fault));
    }
  };
  return (
    <section class="card stack" aria-label="Analysis of the rules">
      <div class="row between">
        <h2>Analysis</h2>
        <button type="button" class="button small" disabled={!isOk || progress !== null} onClick={() => void start()}>
          Analyse
        </button>
      </div>
      {!progress && !result && !error && <p class="small muted">Does it end, can it be won, who is favoured? Agon plays it many times to find out.</p>}
      {progress && (
        <label class="small">
          {progress.text}
          <progress max={1} value={progress.done} />
        </label>
      )}
      {error && <p class="note bad">{error}</p>}
      {result && (
        <ul class="findings">
          {result.findings.map((finding, idx) => (
            <li key={idx} class="row analysis-line">
              <span class={finding.ok ? "badge good" : "badge warn"}>{finding.ok ? "good" : "look"}</span>
              <span class="grow">
                <strong>{finding.name}</strong> {finding.text}
              </span>
            </li>
          ))}
        </ul>
      )}
      {result && (
        <details>
          <summary class="small">Full report</summary>
          <pre class="mono report" tabIndex={0}>{result.text}</pre>
        </details>
      )}
    </section>
  );
}
