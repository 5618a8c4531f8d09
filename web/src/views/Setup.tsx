// A new match: who sits where, and how much time there is. The position may come from a link or from a match that is left.

import { useEffect, useMemo, useState } from "preact/hooks";
import { api, ApiError, sentence } from "../api";
import { Board } from "../board/Board";
import { roleColors } from "../board/colors";
import { unpack } from "../link";
import { FactsView } from "../parts/FactsView";
import { Swatch } from "../parts/Swatch";
import { useLoad } from "../parts/load";
import { go, href } from "../route";
import { keepTokens, load, save, uploads } from "../storage";
import type { GameInfo, MatchSetup, SeatSetup, State } from "../types";
import { kindText, nPlayers, plural } from "../words";

interface SeatChoice {
  kind: "you" | "person" | "bot" | "remote" | "chance";
  player: string;
  url: string;
}

interface Clocks {
  play: number;
  start: number;
  person: string;
}

export function Setup({ game, moves }: { game: string; moves: string | null }) {
  const { data: info, error } = useLoad(() => gameOrUpload(game), game);
  const position = useLoad(async () => {
    if (moves === null) return null;
    const joint = JSON.parse(await unpack(moves)) as string[][];
    return { joint, state: (await api.position(game, joint)).state };
  }, `${game} ${moves}`);
  if (error) return <Fault text={error} />;
  if (position.error) return <Fault text={position.error} />;
  if (!info || (moves !== null && !position.data)) return <p class="page muted">Loading …</p>;
  return <SetupForm key={game} info={info} joint={position.data?.joint ?? []} state={position.data?.state ?? info.start} />;
}

/** The game; rules that the server has forgotten are uploaded again. */
async function gameOrUpload(game: string): Promise<GameInfo> {
  try {
    return await api.game(game);
  } catch (fault) {
    const known = uploads().find((upload) => upload.id === game);
    if (!(fault instanceof ApiError) || fault.kind !== "no-such-game" || !known) throw fault;
    return api.upload(known.rules, known.metadata, known.name);
  }
}

function Fault({ text }: { text: string }) {
  return (
    <div class="page stack">
      <div class="note bad" role="alert">
        {text}
      </div>
      <a class="button" href={href([])}>
        All games
      </a>
    </div>
  );
}

/** The player that uses what `agon train` has learned. */
const trained = { name: "agon:model=trained", about: "Agon with the model that was trained for this game" };

function SetupForm({ info, joint, state }: { info: GameInfo; joint: string[][]; state: State }) {
  const players = useLoad(api.players, 0);
  const preset = players.data?.default ?? "agon";
  const colors = useMemo(() => roleColors(info.roles.map((role) => role.name)), [info]);
  const first = joint.length > 0 ? (state.turn[0] ?? 0) : Math.max(0, info.roles.findIndex((role) => !role.isChance));
  const [seats, setSeats] = useState<SeatChoice[]>(() =>
    info.roles.map((role, idx) => ({ kind: role.isChance ? "chance" : idx === first ? "you" : "bot", player: "", url: "" })),
  );
  const [clocks, setClocks] = useState<Clocks>(() => load("clocks", { play: 2, start: 2, person: "" }));
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  useEffect(() => save("clocks", clocks), [clocks]);
  const set = (idx: number, change: Partial<SeatChoice>) =>
    setSeats(seats.map((seat, other) => (other === idx ? { ...seat, ...change } : seat)));

  const begin = async (chosen: SeatChoice[]) => {
    setBusy(true);
    setError(null);
    try {
      const isWatched = chosen.every((seat) => seat.kind !== "you" && seat.kind !== "person");
      const id = await startMatch(info.id, chosen, preset, joint, clocks, isWatched);
      go(["match", id]);
    } catch (fault) {
      setError(sentence(fault));
      setBusy(false);
    }
  };
  const people = seats.filter((seat) => seat.kind === "you" || seat.kind === "person").length;
  const isShared = info.isHidden && seats.filter((seat) => seat.kind === "you").length > 1;

  return (
    <div class="page setup">
      <div class="setup-board">
        {info.layout.kind === "none" ? (
          <div class="card">
            <FactsView facts={state.facts} roles={info.roles} colors={colors} />
          </div>
        ) : (
          <Board layout={info.layout} pieces={state.pieces} colors={colors} title={`${info.title}: ${joint.length === 0 ? "start" : "position"}`} isPicture />
        )}
      </div>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void begin(seats);
        }}
      >
        <div>
          <h1>{info.title}</h1>
          <p class="muted">{info.description}</p>
        </div>
        <p class="row small">
          {info.kind && <span class="badge">{kindText[info.kind]}</span>}
          <span class="badge">{plural(nPlayers(info.roles), "player")}</span>
          {info.isHidden && <span class="badge">Hidden information</span>}
          {info.roles.some((role) => role.isChance) && <span class="badge">Chance</span>}
          {info.cells > 0 && <span class="badge">{plural(info.cells, "cell")}</span>}
          {joint.length > 0 && <span class="badge warn">from step {joint.length}</span>}
        </p>
        <fieldset class="seats">
          <legend class="label">Seats</legend>
          {info.roles.map((role, idx) => role.isChance ? null : (
            <SeatField
              key={role.name}
              idx={idx}
              role={role.title}
              swatch={<Swatch color={colors[idx]!} />}
              seat={seats[idx]!}
              preset={preset}
              players={[...(info.isTrained ? [trained] : []), ...(players.data?.players ?? [])]}
              onChange={(change) => set(idx, change)}
            />
          ))}
        </fieldset>
        <ClockFields clocks={clocks} onChange={setClocks} hasPeople={people > 0} />
        {isShared && (
          <p class="note warn">
            You hold several seats, so that this page shows what all of them know. Choose “Another person, by link” for people who must not
            see each other’s secrets.
          </p>
        )}
        {error && (
          <div class="note bad" role="alert">
            {error}
          </div>
        )}
        <div class="row">
          <button class="button primary big" type="submit" disabled={isBusy}>
            {people > 0 ? "Play" : "Watch"}
          </button>
          {people > 0 && (
            <button
              class="button"
              type="button"
              disabled={isBusy}
              onClick={() => void begin(seats.map((seat) => (seat.kind === "you" || seat.kind === "person" ? { ...seat, kind: "bot", player: "" } : seat)))}
            >
              Watch Agon play
            </button>
          )}
          <a class="button" href={href(["explore", info.id])}>
            {info.canAnalyse ? "Analyse" : "Try moves"}
          </a>
        </div>
        {info.source && <p class="small muted">Source: {info.source}</p>}
        <details class="rules">
          <summary>Rules in GDL</summary>
          <pre class="mono" tabIndex={0}>
            {info.rules}
          </pre>
          <a class="button small" href={href(["write"], { game: info.id })}>
            Open in the editor
          </a>
        </details>
      </form>
    </div>
  );
}

async function startMatch(game: string, seats: SeatChoice[], preset: string, moves: string[][], clocks: Clocks, isWatched: boolean): Promise<string> {
  const seatSetups = seats.map((seat): SeatSetup => {
    switch (seat.kind) {
      case "you":
        return { kind: "person", name: "You" };
      case "person":
        return { kind: "person", name: "Guest" };
      case "bot":
        return { kind: "bot", player: seat.player.trim() === "" ? preset : seat.player.trim() };
      case "chance":
        return { kind: "chance" };
      case "remote":
        return { kind: "remote", url: seat.url.trim() };
    }
  });
  const person = Number(clocks.person);
  const setup: MatchSetup = {
    game,
    seats: seatSetups,
    moves,
    startClock: clocks.start,
    playClock: clocks.play,
    personClock: clocks.person === "" || !Number.isFinite(person) ? null : person,
    pace: isWatched ? 1 : 0,
  };
  const made = await api.newMatch(setup);
  const held = made.seats.filter((seat) => seat.token !== null);
  const tokens = (kind: string) =>
    Object.fromEntries(held.filter((seat) => seats[seat.role]?.kind === kind).map((seat) => [seat.role, seat.token!]));
  keepTokens(made.id, { owner: made.owner, mine: tokens("you"), others: tokens("person"), at: Date.now() });
  return made.id;
}

function SeatField(props: {
  idx: number;
  role: string;
  swatch: preact.JSX.Element;
  seat: SeatChoice;
  preset: string;
  players: { name: string; about: string }[];
  onChange: (change: Partial<SeatChoice>) => void;
}) {
  const { seat, onChange } = props;
  const list = `players-of-${props.idx}`;
  return (
    <div class="seat-field">
      <span class="row">
        {props.swatch}
        <strong>{props.role}</strong>
      </span>
      <select
        class="select"
        aria-label={`Who plays ${props.role}`}
        value={seat.kind}
        onChange={(event) => onChange({ kind: event.currentTarget.value as SeatChoice["kind"] })}
      >
        <option value="you">You</option>
        <option value="bot">Agon</option>
        <option value="person">Another person, by link</option>
        <option value="remote">A GGP player at an address</option>
      </select>
      {seat.kind === "bot" && (
        <>
          <input
            class="input"
            list={list}
            placeholder={props.preset}
            aria-label={`Preset that plays ${props.role}`}
            value={seat.player}
            onInput={(event) => onChange({ player: event.currentTarget.value })}
          />
          <datalist id={list}>
            {props.players.map((player) => (
              <option key={player.name} value={player.name}>
                {player.about}
              </option>
            ))}
          </datalist>
        </>
      )}
      {seat.kind === "remote" && (
        <input
          class="input"
          type="url"
          required
          placeholder="http://127.0.0.1:9147"
          aria-label={`Address of the player of ${props.role}`}
          value={seat.url}
          onInput={(event) => onChange({ url: event.currentTarget.value })}
        />
      )}
    </div>
  );
}

function ClockFields(props: { clocks: Clocks; onChange: (clocks: Clocks) => void; hasPeople: boolean }) {
  const { clocks, onChange } = props;
  const field = (label: string, value: string, change: (text: string) => void, options: [string, string][]) => (
    <label class="field grow">
      <span>{label}</span>
      <select class="select" value={value} onChange={(event) => change(event.currentTarget.value)}>
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
  const times = (list: number[]): [string, string][] => list.map((n) => [String(n), n < 60 ? `${n} s` : `${n / 60} min`]);
  return (
    <div class="row clock-fields">
      {field("Agon's time per move", String(clocks.play), (text) => onChange({ ...clocks, play: Number(text) }), times([0.2, 0.5, 1, 2, 5, 10, 30, 60]))}
      {field("Time to get ready", String(clocks.start), (text) => onChange({ ...clocks, start: Number(text) }), times([1, 2, 5, 10, 30, 60]))}
      {props.hasPeople &&
        field("Your time per move", clocks.person, (person) => onChange({ ...clocks, person }), [["", "No limit"], ...times([10, 30, 60, 120, 300])])}
    </div>
  );
}
