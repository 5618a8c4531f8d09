// A position to look at: from a link, from a record, or from the start of a game. Moves of all roles can be tried, the search
// can be asked, and a match can be started from here.

import { useEffect, useMemo, useState } from "preact/hooks";
import { api, sentence } from "../api";
import { roleColors } from "../board/colors";
import { pack, unpack } from "../link";
import { Analysis } from "../parts/Analysis";
import { ExportMenu } from "../parts/ExportMenu";
import { useArrowKeys } from "../parts/History";
import { Icon } from "../parts/Icon";
import { arrowsOf } from "../parts/SearchPanel";
import type { SeatLine } from "../parts/Stage";
import { Known } from "../parts/Known";
import { Table } from "../parts/Table";
import { useLoad } from "../parts/load";
import { go, href } from "../route";
import type { Ending, Layout, Move, Report, Role, State, Step } from "../types";
import { isIdle, list, noSearch, titleOf } from "../words";

export interface Shown {
  game: string;
  title: string;
  roles: Role[];
  layout: Layout;
  canAnalyse: boolean;
  players: string[];
  history: Step[];
  ending: Ending | null;
  problem: string | null;
  record: unknown;
  /** The rules of an uploaded game. */
  rules: string | null;
}

/** A position from its address. */
export function Explore({ game, moves, rules }: { game: string; moves: string | null; rules: string | null }) {
  const { data, error } = useLoad(() => fromLink(game, moves, rules), `${game} ${moves} ${rules}`);
  if (error) {
    return (
      <div class="page stack">
        <div class="note bad" role="alert">
          {error}
        </div>
        <a class="button" href={href([])}>
          All games
        </a>
      </div>
    );
  }
  return data ? <Explorer key={`${game} ${moves}`} shown={data} start={data.history.length} /> : <p class="page muted">Loading …</p>;
}

async function fromLink(game: string, moves: string | null, packed: string | null): Promise<Shown> {
  const joint = moves === null ? [] : (JSON.parse(await unpack(moves)) as string[][]);
  const rules = packed === null ? null : await unpack(packed);
  const info = await api.game(game).catch(async (fault: unknown) => {
    // The server may have forgotten an uploaded game; the link has its rules.
    if (rules === null) throw fault;
    return api.upload(rules, null, null);
  });
  const { path } = await api.position(info.id, joint);
  return {
    game: info.id,
    title: info.title,
    roles: info.roles,
    layout: info.layout,
    canAnalyse: info.canAnalyse,
    players: [],
    history: path.map((made) => ({ moves: made, errors: [], thoughts: [], seen: [], at: 0 })),
    ending: null,
    problem: null,
    record: null,
    rules: info.id.startsWith("u-") ? info.rules : null,
  };
}

const kifs = (history: Step[]) => history.map((made) => made.moves.map((move) => move.kif));

export function Explorer({ shown, start }: { shown: Shown; start: number }) {
  const { game, roles } = shown;
  const colors = useMemo(() => roleColors(roles.map((role) => role.name)), [game, roles.length]);
  const [history, setHistory] = useState(shown.history);
  const [step, setStep] = useState(Math.min(start, shown.history.length));
  const [chosen, setChosen] = useState<Map<number, Move>>(new Map());
  const [report, setReport] = useState<Report | null>(null);
  const [tab, setTab] = useState("moves");
  const [fault, setFault] = useState<string | null>(null);
  const [isPlaying, setPlaying] = useState(false);
  const moves = kifs(history.slice(0, step));
  const { state, error } = usePosition(game, moves);
  const isBranch = history !== shown.history;
  const show = (to: number) => setStep(Math.max(0, Math.min(history.length, to)));
  useArrowKeys(
    () => show(step - 1),
    () => show(step + 1),
  );
  useEffect(() => setChosen(new Map()), [step, history]);
  useEffect(() => {
    if (!isPlaying) return;
    if (step >= history.length) {
      setPlaying(false);
      return;
    }
    const timer = setTimeout(() => setStep(step + 1), 700);
    return () => clearTimeout(timer);
  }, [isPlaying, step, history]);

  if (!state) return error ? <div class="page note bad">{error}</div> : <p class="page muted">Loading …</p>;
  const isHere = state.step === step;
  const waiting = state.turn.filter((role) => !chosen.has(role));
  const mine = isHere && !state.isTerminal ? (waiting[0] ?? null) : null;
  const legal = mine === null ? [] : (state.moves[mine] ?? []);

  const choose = async (move: Move | string) => {
    if (mine === null) return;
    const known = typeof move === "string" ? legal.find((other) => other.text === move || other.kif === move) : move;
    if (!known) {
      setFault(`${String(move)} is not a legal move here.`);
      return;
    }
    setFault(null);
    const next = new Map(chosen).set(mine, known);
    if (waiting.length > 1) {
      setChosen(next);
      return;
    }
    await make(roles.map((_, role) => (next.get(role) ?? state.moves[role]?.[0])?.kif ?? "noop"));
  };
  const make = async (joint: string[]) => {
    try {
      const { path } = await api.position(game, [...moves, joint]);
      const made = path.map((row, idx): Step => history[idx] && idx < step ? history[idx]! : { moves: row, errors: [], thoughts: [], seen: [], at: 0 });
      setHistory(made);
      setStep(made.length);
    } catch (problem) {
      setFault(sentence(problem));
    }
  };
  // Nobody has a choice, but the match goes on.
  const only = !state.isTerminal && state.turn.length === 0 && state.moves.every((list) => list.length === 1) ? state.moves.map((list) => list[0]!.kif) : null;
  const branch = async () => go(["new", game], { moves: await pack(JSON.stringify(moves)) });
  const atEnd = step === shown.history.length && !isBranch;
  const goals = state.goals ?? (atEnd ? (shown.ending?.goals ?? null) : null);

  return (
    <div class="page">
      <div class="row between match-head">
        <h1>{shown.title}</h1>
        <div class="status" role="status">
          <PositionText state={state} mine={mine} roles={roles} ending={atEnd ? shown.ending : null} />
        </div>
        <div class="row">
          {history.length > 0 && (
            <button type="button" class="button icon-button" aria-label={isPlaying ? "Pause" : "Replay"} title={isPlaying ? "Pause" : "Replay"} onClick={() => {
              if (!isPlaying && step >= history.length) setStep(0);
              setPlaying(!isPlaying);
            }}>
              <Icon name={isPlaying ? "pause" : "play"} />
            </button>
          )}
          {isBranch && shown.history.length > 0 && (
            <button type="button" class="button" onClick={() => { setHistory(shown.history); setStep(Math.min(step, shown.history.length)); }}>
              <Icon name="undo" /> Back to the record
            </button>
          )}
          {isHere && only !== null && (
            <button type="button" class="button" onClick={() => void make(only)}>
              <Icon name="next" /> Make the only move
            </button>
          )}
          {shown.canAnalyse ? (
            <button type="button" class="button primary" disabled={state.isTerminal} onClick={() => void branch()}>
              <Icon name="branch" /> Play from here
            </button>
          ) : (
            <a class="button primary" href={href(["new", game])}>
              <Icon name="branch" /> New match
            </a>
          )}
        </div>
      </div>
      {shown.problem && <div class="note warn">{shown.problem}</div>}
      {(fault ?? error) && (
        <div class="note bad" role="alert">
          {fault ?? error}
        </div>
      )}
      <Table
        title={shown.title}
        layout={shown.layout}
        state={state}
        roles={roles}
        colors={colors}
        seats={seatLines(shown, state, chosen, goals)}
        mine={mine}
        moves={legal}
        isShared={state.turn.length > 1}
        onMove={(move) => void choose(move)}
        arrows={tab === "search" ? arrowsOf(report) : []}
        history={history}
        step={step}
        last={history.length}
        onStep={show}
        tab={tab}
        onTab={setTab}
        label="About this position"
        known={<Known history={history.slice(0, step)} roles={roles} colors={colors} />}
        search={!shown.canAnalyse ? <p class="muted small">{noSearch}</p> : <Analysis game={game} moves={isHere ? moves : null} state={state} roles={roles} colors={colors} onReport={setReport} />}
        share={
          <ExportMenu
            name={`${shown.title}-${step}`}
            game={game}
            rules={() => Promise.resolve(shown.rules)}
            moves={moves}
            record={shown.record === null ? null : () => Promise.resolve(shown.record)}
          />
        }
      />
    </div>
  );
}

function usePosition(game: string, moves: string[][]): { state: State | null; error: string | null } {
  const [state, setState] = useState<State | null>(null);
  const [error, setError] = useState<string | null>(null);
  const key = JSON.stringify(moves);
  useEffect(() => {
    const abort = new AbortController();
    api.position(game, moves, abort.signal).then(
      (answer) => {
        setState(answer.state);
        setError(null);
      },
      (fault: unknown) => abort.signal.aborted || setError(sentence(fault)),
    );
    return () => abort.abort();
  }, [game, key]);
  return { state, error };
}

function PositionText({ state, mine, roles, ending }: { state: State; mine: number | null; roles: Role[]; ending: Ending | null }) {
  if (ending) return <span>{ending.text}</span>;
  if (state.isTerminal) {
    const goals = (state.goals ?? []).map((goal, role) => `${titleOf(roles, role)} ${goal ?? "–"}`);
    return <span>The game ends here: {list(goals)}.</span>;
  }
  return <span>{mine === null ? nothingToChoose(state) : `${titleOf(roles, mine)} to move. Try any move on the board.`}</span>;
}

/** A state in which every role has only one move, or none. */
function nothingToChoose(state: State): string {
  if (state.moves.some((list) => list.length === 0)) return "Nobody can move here, although the rules do not end the match.";
  const real = state.moves.flat().filter((move) => !isIdle(move));
  return real.length === 0 ? "Nobody has a choice here." : `Only ${list(real.map((move) => move.text))} can be played here.`;
}

function seatLines(shown: Shown, state: State, chosen: Map<number, Move>, goals: (number | null)[] | null): SeatLine[] {
  const best = goals === null ? 0 : Math.max(...goals.map((goal) => goal ?? 0));
  const lines = shown.roles.map((role, idx) => ({
    role: idx,
    title: role.title,
    name: shown.players[idx] ?? "",
    status: chosen.has(idx) ? "has chosen" : state.turn.includes(idx) && !state.isTerminal ? "to move" : "",
    isActive: state.turn.includes(idx) && !chosen.has(idx) && !state.isTerminal,
    goal: goals?.[idx] ?? null,
    isWinner: goals !== null && goals.length > 1 && goals[idx] === best && goals.some((goal) => goal !== best),
    time: null,
  }));
  return lines.filter((line) => !shown.roles[line.role]!.isChance || line.isActive);
}
