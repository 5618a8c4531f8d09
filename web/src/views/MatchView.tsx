// A match: play in a seat, or watch. The server tells when something has changed; the page then asks for the match again.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { api, ApiError, listen, sentence } from "../api";
import { arrowsOf, SearchPanel } from "../parts/SearchPanel";
import { Analysis } from "../parts/Analysis";
import { ExportMenu } from "../parts/ExportMenu";
import { useArrowKeys } from "../parts/History";
import { Icon } from "../parts/Icon";
import type { SeatLine } from "../parts/Stage";
import { Known } from "../parts/Known";
import { Table } from "../parts/Table";
import { copyText } from "../parts/export";
import { useLatest } from "../parts/load";
import { isSoundOn, knock, setSound } from "../parts/sound";
import { roleColors } from "../board/colors";
import { pack } from "../link";
import { go, href } from "../route";
import { keepTokens, tokensOf, tokenText, type Tokens } from "../storage";
import type { Match, Move, Report, Seat, State } from "../types";
import { list, noSearch, shownMoves, titleOf } from "../words";

export function MatchView({ id, seat }: { id: string; seat: string | null }) {
  const [tokens, setTokens] = useState<Tokens>(() => tokensOf(id));
  // A link to a seat brings a token; it is kept, and the address no longer shows it.
  const pending = seat !== null && !Object.values(tokens.mine).includes(seat) ? seat : null;
  const live = useMatch(id, pending === null ? tokenText(tokens) : [tokenText(tokens), pending].filter((text) => text !== "").join(","));
  useEffect(() => {
    if (pending === null || !live.match) return;
    const free = live.match.you.find((role) => !Object.hasOwn(tokens.mine, role));
    if (free === undefined) return;
    const kept = { ...tokens, mine: { ...tokens.mine, [free]: pending } };
    keepTokens(id, kept);
    setTokens(kept);
    history.replaceState(null, "", href(["match", id]));
  }, [pending, live.match]);
  if (live.error && !live.match) {
    return (
      <div class="page stack">
        <div class="note bad" role="alert">
          {live.error}
        </div>
        <div class="row">
          <button type="button" class="button" onClick={live.reload}>
            Try again
          </button>
          <a class="button" href={href([])}>
            All games
          </a>
        </div>
      </div>
    );
  }
  if (!live.match) return <p class="page muted">Loading the match …</p>;
  return <Playing key={id} live={live} match={live.match} tokens={tokens} />;
}

interface Note {
  text: string;
  isBad: boolean;
}

interface Live {
  match: Match | null;
  error: string | null;
  reports: Map<number, Report>;
  token: string;
  reload: () => void;
}

/** Milliseconds until a request that failed is made again. */
const RETRY = 2000;

/** The match as it is on the server. */
function useMatch(id: string, token: string): Live {
  const [match, setMatch] = useState<Match | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [reports, setReports] = useState<Map<number, Report>>(new Map());
  const version = useRef(-1);
  const isLoading = useRef(false);
  const retry = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const wanted = useRef(0);
  const fetchMatch = useLatest(async () => {
    wanted.current += 1;
    if (isLoading.current) return;
    isLoading.current = true;
    try {
      // Changes that come while it loads are loaded after it.
      for (let seen = -1; seen !== wanted.current; ) {
        seen = wanted.current;
        const news = await api.match(id, token);
        version.current = news.version;
        setMatch(news);
        setError(null);
      }
    } catch (fault) {
      setError(sentence(fault));
      // A server that is busy or starts again answers later; a match that is not there stays away.
      const isGone = fault instanceof ApiError && (fault.status === 404 || fault.status === 403);
      clearTimeout(retry.current);
      if (!isGone) retry.current = setTimeout(() => void fetchMatch(), RETRY);
    } finally {
      isLoading.current = false;
    }
  });
  useEffect(() => {
    version.current = -1;
    void fetchMatch();
    const query = new URLSearchParams({ search: "1" });
    if (token !== "") query.set("token", token);
    let timer: ReturnType<typeof setTimeout> | undefined;
    let close = () => {};
    const connect = () => {
      close = listen(
        `matches/${encodeURIComponent(id)}/events?${query}`,
        {
          match: (data) => {
            if ((data as { version: number }).version > version.current) void fetchMatch();
          },
          seat: (data) => {
            const news = data as Pick<Seat, "role" | "status" | "place">;
            // An answer that is on its way may be older than these news: it is asked for once more.
            if (isLoading.current) wanted.current += 1;
            setMatch((old) => old && { ...old, seats: old.seats.map((seat) => (seat.role === news.role ? { ...seat, ...news } : seat)) });
          },
          search: (data) => {
            const report = data as Report;
            setReports((old) => new Map(old).set(report.role, report));
          },
          gone: () => void fetchMatch(),
        },
        () => {
          timer = setTimeout(connect, RETRY);
        },
      );
    };
    connect();
    return () => {
      close();
      clearTimeout(timer);
      clearTimeout(retry.current);
    };
  }, [id, token]);
  return { match, error, reports, token, reload: () => void fetchMatch() };
}

function Playing({ live, match, tokens }: { live: Live; match: Match; tokens: Tokens }) {
  const colors = useMemo(() => roleColors(match.roles.map((role) => role.name)), [match.game, match.roles.length]);
  const [cursor, setCursor] = useState<number | null>(null);
  const past = usePast(match, live.token, cursor);
  const [note, setNote] = useState<Note | null>(null);
  const [hint, setHint] = useState<{ step: number; report: Report; move: Move } | null>(null);
  const [tab, setTab] = useState(match.you.length > 0 ? "moves" : "search");
  const [analysis, setAnalysis] = useState<Report | null>(null);
  // While an action of this page is on its way, and until the match shows what it did: its version before and after.
  const [awaited, setAwaited] = useState<{ from: number; to: number } | null>(null);
  const step = cursor ?? match.state.step;
  const state: State = cursor === null ? match.state : (past ?? match.state);
  const isLive = cursor === null;
  // Versions of a server that has started again are smaller.
  const isSending = awaited !== null && match.version >= awaited.from && match.version < awaited.to;
  const mine = isSending ? null : activeRole(match);
  const moves = isLive && mine !== null ? (match.state.moves[mine] ?? []) : [];
  useEffect(() => {
    if (match.state.step > 0) knock();
    setNote(null);
  }, [match.state.step]);
  const show = (to: number) => setCursor(to >= match.state.step ? null : Math.max(0, to));
  useArrowKeys(
    () => show(step - 1),
    () => show(step + 1),
  );

  const act = async (work: () => Promise<unknown>) => {
    const from = match.version;
    setAwaited({ from, to: from + 1 });
    try {
      const answer = (await work()) as { version?: number } | null;
      setAwaited(answer?.version === undefined ? null : { from, to: answer.version });
      setNote(null);
    } catch (fault) {
      setAwaited(null);
      setNote({ text: sentence(fault), isBad: true });
    } finally {
      live.reload();
    }
  };
  const play = (move: Move | string) => {
    if (mine === null) return;
    setHint(null);
    void act(() => api.move(match.id, live.token, mine, match.state.step, typeof move === "string" ? move : move.kif));
  };
  const askHint = () => {
    if (mine === null) return;
    setNote({ text: "Agon looks for a move …", isBad: false });
    api.hint(match.id, live.token, mine, 1).then(
      (answer) => {
        setHint({ step: match.state.step, ...answer });
        setNote({ text: `Agon would play ${answer.move.text}.`, isBad: false });
      },
      (fault: unknown) => setNote({ text: sentence(fault), isBad: true }),
    );
  };
  const jointMoves = match.history.slice(0, step).map((made) => made.moves.map((move) => move.kif));
  const liveReport = newestReport(live.reports, match.seats, match.state.step);
  const arrows =
    hint && isLive && hint.step === match.state.step
      ? arrowsOf({ ...hint.report, moves: hint.report.moves.slice(0, 1) })
      : tab === "search"
        ? arrowsOf(analysis ?? (isLive && liveReport?.step === match.state.step ? liveReport : null))
        : [];

  return (
    <div class="page">
      <div class="row between match-head">
        <h1>{match.title}</h1>
        <Status match={match} mine={mine} isSending={isSending} isLive={isLive} onLive={() => setCursor(null)} note={note ?? (live.error === null ? null : { text: live.error, isBad: true })} />
        <MatchButtons match={match} live={live} act={act} mine={mine} onHint={askHint} step={step} jointMoves={jointMoves} />
      </div>
      <p class="visually-hidden" aria-live="polite">
        {lastText(match)}
      </p>
      <Table
        title={match.title}
        layout={match.layout}
        state={state}
        roles={match.roles}
        colors={colors}
        seats={seatLines(match, isLive)}
        mine={isLive ? mine : null}
        moves={moves}
        isShared={match.you.length > 1}
        onMove={play}
        arrows={arrows}
        isOpposite={sitsOpposite(match)}
        history={match.history}
        step={step}
        last={Math.max(match.history.length, match.state.step)}
        onStep={show}
        tab={tab}
        onTab={setTab}
        label="About this match"
        known={<Known history={match.history.slice(0, step)} roles={match.roles} colors={colors} />}
        search={
          <div class="stack">
            {isLive && liveReport && <SearchPanel report={liveReport} roles={match.roles} colors={colors} />}
            {isLive && !liveReport && match.status === "running" && match.canAnalyse && <p class="muted small">When a player thinks, it is shown here.</p>}
            {!match.canAnalyse ? <p class="muted small">{noSearch}</p> : <Analysis game={match.game} moves={jointMoves} state={state} roles={match.roles} colors={colors} onReport={setAnalysis} />}
          </div>
        }
        share={<Share match={match} tokens={tokens} live={live} jointMoves={jointMoves} />}
      />
    </div>
  );
}

/** People who play the second side of chess or draughts see the board from there. */
function sitsOpposite(match: Match): boolean {
  const isFaced = match.state.pieces.some((piece) => piece.shape === "king" || piece.shape === "man" || piece.shape === "pawn");
  return isFaced && match.roles.length === 2 && match.you.length === 1 && match.you[0] === 1 && match.layout.kind === "square";
}

/** The role that this browser has to choose for now. */
function activeRole(match: Match): number | null {
  if (match.status !== "running" && match.status !== "preparing") return null;
  const open = match.you.filter((role) => {
    const seat = match.seats.find((other) => other.role === role);
    return seat?.kind === "person" && seat.status !== "chosen" && (match.state.moves[role]?.length ?? 0) > 0;
  });
  const choosing = open.find((role) => match.state.turn.includes(role));
  return match.ending === null && !match.state.isTerminal ? (choosing ?? null) : null;
}

/** The state at an earlier step. */
function usePast(match: Match, token: string, cursor: number | null): State | null {
  const [past, setPast] = useState<State | null>(null);
  const known = useRef(new Map<number, State>());
  useEffect(() => {
    if (cursor === null) return;
    const kept = known.current.get(cursor);
    // A step may be taken back and played differently, so only what is older than the newest step is kept for good.
    if (kept) {
      setPast(kept);
      return;
    }
    const abort = new AbortController();
    api.match(match.id, token, cursor, abort.signal).then(
      (answer) => {
        known.current.set(cursor, answer.state);
        setPast(answer.state);
      },
      () => undefined,
    );
    return () => abort.abort();
  }, [cursor, match.id, token]);
  const length = useRef(match.history.length);
  if (match.history.length < length.current) known.current.clear();
  length.current = match.history.length;
  return past;
}

/** The last joint move for screen readers. */
function lastText(match: Match): string {
  const made = match.history.at(-1);
  if (!made) return "";
  return shownMoves(made)
    .map((move) => `${titleOf(match.roles, move.role)} played ${move.text}`)
    .join(", ");
}

function newestReport(reports: Map<number, Report>, seats: Seat[], step: number): Report | null {
  const thinking = seats.filter((seat) => seat.status === "thinking").map((seat) => reports.get(seat.role));
  const all = [...thinking, ...reports.values()].filter((report) => report !== undefined && report.step <= step);
  return all.sort((one, two) => two!.step - one!.step)[0] ?? null;
}

function seatLines(match: Match, isLive: boolean): SeatLine[] {
  const goals = isLive ? (match.ending?.goals ?? match.state.goals) : null;
  const text = (seat: Seat): string => {
    if (match.status === "over" || match.status === "paused" || !isLive) return "";
    switch (seat.status) {
      case "to-move":
        return match.you.includes(seat.role) ? "your move" : "to move";
      case "chosen":
        return "has chosen";
      case "queued":
        return seat.place === null ? "waits" : `waits, place ${seat.place}`;
      case "thinking":
        return "thinks …";
      case "idle":
        return "";
    }
  };
  return match.seats.filter((seat) => seat.kind !== "chance").map((seat) => ({
    role: seat.role,
    title: titleOf(match.roles, seat.role),
    name: match.you.includes(seat.role) ? "You" : seat.name,
    status: [text(seat), seat.nFaults > 0 ? `${seat.nFaults} faults` : ""].filter((part) => part !== "").join(" · "),
    isActive: isLive && match.status !== "over" && seat.status !== "idle" && seat.status !== "chosen",
    goal: goals?.[seat.role] ?? null,
    isWinner: match.ending?.winners.includes(seat.role) ?? false,
    time: null,
  }));
}

function Status(props: { match: Match; mine: number | null; isSending: boolean; isLive: boolean; onLive: () => void; note: Note | null }) {
  const { match, mine } = props;
  const left = useCountdown(match.deadline);
  if (!props.isLive) {
    return (
      <div class="status row between" role="status">
        <span>You look at an earlier position.</span>
        <button type="button" class="button small" onClick={props.onLive}>
          Back to the match
        </button>
      </div>
    );
  }
  if (match.ending) {
    const winners = match.ending.winners;
    const head = winners.length === 0 ? "The match is over" : `${list(winners.map((role) => titleOf(match.roles, role)))} ${winners.length === 1 ? "wins" : "win"}`;
    return (
      <div class="status ending" role="status">
        <strong>{head}.</strong> <span>{match.ending.text}</span>
        <NoteText note={props.note} />
      </div>
    );
  }
  const isChosen = match.you.some((role) => match.seats.find((seat) => seat.role === role)?.status === "chosen");
  const text =
    match.status === "preparing"
      ? "The players get ready …"
      : match.status === "paused"
        ? "Paused."
        : mine !== null
          ? `Your move${match.you.length > 1 ? `, ${titleOf(match.roles, mine)}` : ""}.`
          : props.isSending
            ? "The move is sent …"
            : isChosen
            ? "Your choice is made and covered until all have chosen."
            : "Waiting for the others …";
  return (
    <div class={mine !== null ? "status yours" : "status"} role="status">
      <span>{text}</span>
      <NoteText note={props.note} />
      {left !== null && mine !== null && <b class={left < 10 ? "clock low" : "clock"}>{left} s</b>}
    </div>
  );
}

function NoteText({ note }: { note: Note | null }) {
  if (!note) return null;
  return (
    <span class={note.isBad ? "status-note bad" : "status-note"} role={note.isBad ? "alert" : undefined}>
      {note.text}
    </span>
  );
}

function useCountdown(deadline: number | null): number | null {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (deadline === null) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 250);
    return () => clearInterval(timer);
  }, [deadline]);
  return deadline === null ? null : Math.max(0, Math.ceil((deadline - now) / 1000));
}

function MatchButtons(props: {
  match: Match;
  live: Live;
  act: (work: () => Promise<unknown>) => Promise<void>;
  mine: number | null;
  onHint: () => void;
  step: number;
  jointMoves: string[][];
}) {
  const { match, live, act, mine } = props;
  const [isLoud, setLoud] = useState(isSoundOn);
  const [isSure, setSure] = useState(false);
  const isRunning = match.status === "running" || match.status === "paused" || match.status === "preparing";
  const hasBots = match.seats.some((seat) => seat.kind === "bot" || seat.kind === "remote");
  const control = (body: Parameters<typeof api.control>[2]) => act(() => api.control(match.id, live.token, body));
  const iconButton = (icon: Parameters<typeof Icon>[0]["name"], label: string, onClick: () => void, isDisabled = false) => (
    <button type="button" class="button icon-button" aria-label={label} title={label} disabled={isDisabled} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
  const isAtEnd = match.ending !== null && props.step >= match.state.step;
  const branch = async () =>
    isAtEnd || props.step === 0 || !match.canAnalyse ? go(["new", match.game]) : go(["new", match.game], { moves: await pack(JSON.stringify(props.jointMoves)) });
  const resigning = match.you.find((role) => mine === null || role === mine);
  return (
    <div class="row match-buttons">
      {match.isOwner && match.you.length === 0 && isRunning && (
        <>
          {match.status === "paused"
            ? iconButton("play", "Go on", () => void control({ isPaused: false }))
            : iconButton("pause", "Pause", () => void control({ isPaused: true }))}
          {match.status === "paused" && iconButton("next", "One step", () => void control({ steps: 1 }))}
          <Speed pace={match.pace} onChange={(pace) => void control({ pace })} />
        </>
      )}
      {match.you.length > 0 && (
        <>
          {match.canAnalyse && iconButton("undo", "Take back", () => void act(() => api.undo(match.id, live.token)), !match.canUndo)}
          {hasBots && isRunning && match.canAnalyse && iconButton("hint", "Hint", props.onHint, mine === null)}
          {match.canResign && resigning !== undefined && isRunning && !isSure && iconButton("flag", "Resign", () => setSure(true))}
          {isSure && isRunning && (
            <span class="row sure" role="group" aria-label="Resign?">
              <button
                type="button"
                class="button small"
                onClick={() => {
                  setSure(false);
                  void act(() => api.resign(match.id, live.token, resigning!));
                }}
              >
                Resign
              </button>
              <button type="button" class="button small quiet" onClick={() => setSure(false)}>
                Play on
              </button>
            </span>
          )}
        </>
      )}
      <button type="button" class="button" onClick={() => void branch()} title={isAtEnd ? "A new match of this game" : "A new match from the position that is shown"}>
        <Icon name="branch" /> {props.step === 0 || isAtEnd || !match.canAnalyse ? "New match" : "Branch off"}
      </button>
      <button
        type="button"
        class="button icon-button"
        aria-pressed={isLoud}
        aria-label="Sound"
        title={isLoud ? "Sound is on" : "Sound is off"}
        onClick={() => {
          setSound(!isLoud);
          setLoud(!isLoud);
        }}
      >
        <Icon name={isLoud ? "sound" : "silent"} />
      </button>
    </div>
  );
}

const paces = [0, 0.2, 0.5, 1, 2, 5];

function Speed({ pace, onChange }: { pace: number; onChange: (pace: number) => void }) {
  const all = paces.includes(pace) ? paces : [...paces, pace].sort((one, two) => one - two);
  return (
    <select class="select narrow" aria-label="Speed" value={String(pace)} onChange={(event) => onChange(Number(event.currentTarget.value))}>
      {all.map((seconds) => (
        <option key={seconds} value={String(seconds)}>
          {seconds === 0 ? "As fast as possible" : `${seconds} s per move`}
        </option>
      ))}
    </select>
  );
}

function Share({ match, tokens, live, jointMoves }: { match: Match; tokens: Tokens; live: Live; jointMoves: string[][] }) {
  const [note, setNote] = useState<string | null>(null);
  const base = window.location.href.split("#")[0]!;
  const links = [
    ...Object.entries(tokens.others).map(([role, token]) => ({
      text: `Play ${titleOf(match.roles, Number(role))}`,
      url: base + href(["match", match.id], { seat: token }),
    })),
    { text: "Watch", url: base + href(["match", match.id]) },
  ];
  return (
    <div class="stack">
      <p class="label row">
        <Icon name="link" /> Links
      </p>
      <ul class="links">
        {links.map((link) => (
          <li key={link.text} class="row">
            <span>{link.text}</span>
            <input class="input grow mono" readOnly value={link.url} aria-label={`Link: ${link.text}`} onFocus={(event) => event.currentTarget.select()} />
            <button
              type="button"
              class="button small"
              onClick={async () => setNote((await copyText(link.url)) ? `Copied: ${link.text}` : "Copy it from the field.")}
            >
              Copy
            </button>
          </li>
        ))}
      </ul>
      {note && (
        <p class="small muted" role="status">
          {note}
        </p>
      )}
      {match.hides && <p class="small muted">Others who open the page see only what their seats know. The record can be saved when the match is over.</p>}
      {!match.hides && <ExportMenu
        name={`${match.title}-${match.history.length}`}
        game={match.game}
        rules={async () => (match.game.startsWith("u-") ? (await api.game(match.game)).rules : null)}
        moves={jointMoves}
        record={() => api.record(match.id, live.token)}
      />}
      <EndMatch match={match} live={live} />
    </div>
  );
}

function EndMatch({ match, live }: { match: Match; live: Live }) {
  if (!match.isOwner || match.status === "over") return null;
  const end = () =>
    api.control(match.id, live.token, { end: true }).then(
      () => live.reload(),
      (fault: unknown) => (fault instanceof ApiError ? live.reload() : undefined),
    );
  return (
    <button type="button" class="button small quiet" onClick={() => void end()}>
      <Icon name="close" /> End this match
    </button>
  );
}
