// All built-in games with a picture of their start, search and filters.

import { useMemo, useState } from "preact/hooks";
import { api } from "../api";
import { Icon } from "../parts/Icon";
import { Picture } from "../parts/Picture";
import { useLoad } from "../parts/load";
import { href } from "../route";
import type { GameSummary } from "../types";
import { kindText, nPlayers, plural } from "../words";

export interface Filter {
  text: string;
  players: string;
  kind: string;
  board: string;
  size: string;
}

const noFilter: Filter = { text: "", players: "", kind: "", board: "", size: "" };

export function matchesFilter(game: GameSummary, filter: Filter): boolean {
  const n = nPlayers(game.roles);
  const players = filter.players === "" || (filter.players === "3" ? n >= 3 : n === Number(filter.players));
  const kind = filter.kind === "" || game.kind === filter.kind;
  const board = filter.board === "" || game.board === filter.board;
  const size =
    filter.size === "" ||
    (filter.size === "small" && game.cells > 0 && game.cells <= 25) ||
    (filter.size === "middle" && game.cells > 25 && game.cells <= 64) ||
    (filter.size === "large" && game.cells > 64);
  const words = filter.text.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const text = `${game.title} ${game.id.replaceAll("_", " ")} ${game.id} ${game.description} ${game.source ?? ""} ${game.roles.map((role) => role.title).join(" ")}`.toLowerCase();
  return players && kind && board && size && words.every((word) => text.includes(word));
}

export function Gallery() {
  const { data, error, reload } = useLoad(api.games, 0);
  const [filter, setFilter] = useState(noFilter);
  const set = (change: Partial<Filter>) => setFilter({ ...filter, ...change });
  const games = useMemo(() => (data?.games ?? []).filter((game) => matchesFilter(game, filter)), [data, filter]);
  return (
    <div class="page stack">
      <div class="hero">
        <h1>Play any game from its rules</h1>
        <p class="muted">
          Pick a game, or <a href={href(["write"])}>paste rules of your own</a>: Agon reads them, draws the board, plays strongly and
          shows what it thinks.
        </p>
      </div>
      <div class="filters" role="search">
        <label class="field search-field">
          <span>Search</span>
          <span class="with-icon">
            <Icon name="search" />
            <input
              class="input"
              type="search"
              placeholder="Chess, hexagons, cards …"
              value={filter.text}
              onInput={(event) => set({ text: event.currentTarget.value })}
            />
          </span>
        </label>
        <Choice label="Players" value={filter.players} onChange={(players) => set({ players })} options={{ "1": "One", "2": "Two", "3": "Three or more" }} />
        <Choice label="Kind" value={filter.kind} onChange={(kind) => set({ kind })} options={kindText} />
        <Choice
          label="Board"
          value={filter.board}
          onChange={(board) => set({ board })}
          options={{ square: "Squares", hex: "Hexagons", boards: "Several boards", space: "In space", none: "No board" }}
        />
        <Choice
          label="Size"
          value={filter.size}
          onChange={(size) => set({ size })}
          options={{ small: "Up to 25 cells", middle: "26 to 64 cells", large: "More than 64" }}
        />
      </div>
      <p class="small muted" aria-live="polite">
        {data ? plural(games.length, "game") : error ? "" : "Loading the games …"}
      </p>
      {error && (
        <div class="note bad row between" role="alert">
          {error}
          <button type="button" class="button small" onClick={reload}>
            Try again
          </button>
        </div>
      )}
      <ul class="gallery">
        {games.map((game) => (
          <li key={game.id}>
            <a class="game-card" href={href(["new", game.id])}>
              <Picture game={game.id} title={game.title} roles={game.roles} />
              <span class="game-card-text">
                <strong>{game.title}</strong>
                <span class="small muted">
                  {plural(nPlayers(game.roles), "player")}
                  {game.kind && game.kind !== "turn-taking" ? ` · ${kindText[game.kind]}` : ""}
                  {game.isHidden ? " · hidden information" : game.roles.some((role) => role.isChance) ? " · dice or cards" : ""}
                </span>
              </span>
            </a>
          </li>
        ))}
      </ul>
      {data && games.length === 0 && (
        <div class="note row between">
          No game fits.
          <button type="button" class="button small" onClick={() => setFilter(noFilter)}>
            Show all games
          </button>
        </div>
      )}
    </div>
  );
}

function Choice(props: { label: string; value: string; onChange: (value: string) => void; options: Record<string, string> }) {
  return (
    <label class="field">
      <span>{props.label}</span>
      <select class="select" value={props.value} onChange={(event) => props.onChange(event.currentTarget.value)}>
        <option value="">Any</option>
        {Object.entries(props.options).map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
