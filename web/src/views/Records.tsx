// Opens match records: a file, a drop, pasted text, or the address of a match of this server.

import { useRef, useState } from "preact/hooks";
import { api, sentence } from "../api";
import { Icon } from "../parts/Icon";
import { useLoad } from "../parts/load";
import { href } from "../route";
import type { Replay } from "../types";
import { Explorer, type Shown } from "./Explore";

export function Records() {
  const [shown, setShown] = useState<Shown | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [isOver, setOver] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [url, setUrl] = useState("");
  const [game, setGame] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const games = useLoad(api.games, 0);

  const open = async (get: () => Promise<unknown>) => {
    setError(null);
    setBusy(true);
    try {
      const record = await get();
      const replay = await api.replay(record, game === "" ? null : game, null);
      setShown(await fromReplay(replay, record));
    } catch (fault) {
      setError(sentence(fault));
    } finally {
      setBusy(false);
    }
  };
  const openFile = (file: File | undefined) => file && void open(async () => readRecord(await file.text()));
  if (shown) {
    return (
      <>
        <div class="page record-bar">
          <button type="button" class="button small" onClick={() => setShown(null)}>
            <Icon name="open" /> Open another record
          </button>
        </div>
        <Explorer shown={shown} start={0} />
      </>
    );
  }
  return (
    <div class="page stack narrow-page">
      <h1>Replay a match</h1>
      <p class="muted">Any match record of Agon or of another GGP manager: step through it, see what players expected, branch off.</p>
      <div
        class={isOver ? "drop over" : "drop"}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          openFile(event.dataTransfer?.files[0]);
        }}
      >
        <Icon name="open" />
        <p>Drop a record here, or</p>
        <button type="button" class="button primary" disabled={isBusy} onClick={() => input.current?.click()}>
          Choose a file
        </button>
        <input
          ref={input}
          class="visually-hidden"
          type="file"
          accept=".json,application/json"
          aria-label="Record file"
          tabIndex={-1}
          onChange={(event) => openFile(event.currentTarget.files?.[0])}
        />
      </div>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          void open(() => fromAddress(url));
        }}
      >
        <label class="field grow">
          <span>Address of a match of this server</span>
          <input class="input" value={url} placeholder={href(["match", "…"])} onInput={(event) => setUrl(event.currentTarget.value)} />
        </label>
        <button type="submit" class="button align-end" disabled={url.trim() === "" || isBusy}>
          Open
        </button>
      </form>
      <label class="field">
        <span>Game, if the record does not hold its rules</span>
        <select class="select" value={game} onChange={(event) => setGame(event.currentTarget.value)}>
          <option value="">As the record says</option>
          {(games.data?.games ?? []).map((other) => (
            <option key={other.id} value={other.id}>
              {other.title}
            </option>
          ))}
        </select>
      </label>
      {error && (
        <div class="note bad" role="alert">
          {error}
        </div>
      )}
    </div>
  );
}

export function readRecord(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("This is not a match record: it is not JSON.");
  }
}

/** The id of a match in an address, or in itself. */
export function matchIdOf(text: string): string | null {
  return /\b[0-9a-f]{32}\b/.exec(text.trim())?.[0] ?? null;
}

async function fromAddress(text: string): Promise<unknown> {
  const id = matchIdOf(text);
  if (id === null) throw new Error("This address holds no match id: 32 digits and letters from a to f.");
  return api.record(id, "");
}

async function fromReplay(replay: Replay, record: unknown): Promise<Shown> {
  const rules = replay.game.startsWith("u-") ? (await api.game(replay.game)).rules : null;
  return {
    game: replay.game,
    title: replay.title,
    roles: replay.roles,
    layout: replay.layout,
    canAnalyse: replay.canAnalyse,
    players: replay.players,
    history: replay.history,
    ending: replay.ending,
    problem: replay.isValid ? null : replay.problem,
    record,
    rules,
  };
}
