// Host: matches of this server, matches with GGP players at an address, tournaments of stores, and the player of this server.

import { useEffect, useState } from "preact/hooks";
import { api, listen, sentence } from "../api";
import { Board } from "../board/Board";
import { roleColors } from "../board/colors";
import { Icon } from "../parts/Icon";
import { IntervalPlot } from "../parts/IntervalPlot";
import { SearchPanel } from "../parts/SearchPanel";
import { useLoad } from "../parts/load";
import { go, href } from "../route";
import type { MatchRow, Ping, PlayerMatch, Report, ServerInfo, Store } from "../types";
import { plural } from "../words";

export function Host({ section, id }: { section: string; id: string }) {
  const server = useLoad(api.server, 0);
  if (section === "store" && id !== "") return <StorePage id={id} />;
  return (
    <div class="page stack">
      <h1>Host</h1>
      <p class="muted">
        Matches between people, Agon and other GGP players, and tournaments. {server.data && loadText(server.data)}
      </p>
      <div class="host-grid">
        <Matches />
        <div class="stack">
          <PingForm />
          <Stores />
          <TournamentForm />
          {server.data?.player && <OwnPlayer url={server.data.player.url} />}
        </div>
      </div>
    </div>
  );
}

const loadText = (server: ServerInfo) =>
  `Agon ${server.version}, ${plural(server.cores, "core")}; ${plural(server.load.matches, "match", "matches")} open, ${plural(server.load.searching, "search", "searches")} running${server.load.waiting > 0 ? `, ${server.load.waiting} waiting` : ""}.`;

function Matches() {
  const { data, error, reload } = useLoad(api.matches, 0);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) reload();
    }, 3000);
    return () => clearInterval(timer);
  }, []);
  return (
    <section class="card stack">
      <div class="row between">
        <h2>Matches of this server</h2>
        <a class="button small primary" href={href([])}>
          New match
        </a>
      </div>
      {error && <p class="note bad">{error}</p>}
      {data && data.matches.length === 0 && <p class="muted small">No match yet. Pick a game and choose who plays; a seat may be a GGP player at an address.</p>}
      {data && data.matches.length > 0 && (
        <div class="scroll-x" tabIndex={0} role="region" aria-label="Matches">
          <table>
            <thead>
              <tr>
                <th>game</th>
                <th>players</th>
                <th class="number">step</th>
                <th>state</th>
              </tr>
            </thead>
            <tbody>
              {data.matches.map((match) => (
                <tr key={match.id}>
                  <td>
                    <a href={href(["match", match.id])}>{match.title}</a>
                  </td>
                  <td>{match.players.join(" – ")}</td>
                  <td class="number">{match.step}</td>
                  <td>{resultText(match)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

const resultText = (match: MatchRow) => (match.goals ? match.goals.map((goal) => goal ?? "–").join(" : ") : match.status);

function PingForm() {
  const [url, setUrl] = useState("");
  const [answer, setAnswer] = useState<Ping | null>(null);
  const [error, setError] = useState<string | null>(null);
  const ask = async () => {
    setAnswer(null);
    setError(null);
    try {
      setAnswer(await api.ping(url.trim()));
    } catch (fault) {
      setError(sentence(fault));
    }
  };
  return (
    <section class="card stack">
      <h2>Is a player there?</h2>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          void ask();
        }}
      >
        <input class="input grow" type="url" required aria-label="Address of a GGP player" placeholder="http://127.0.0.1:9147" value={url} onInput={(event) => setUrl(event.currentTarget.value)} />
        <button type="submit" class="button">
          Ask
        </button>
      </form>
      {answer && (
        <p class={answer.status === "unreachable" ? "note bad" : "note good"} role="status">
          {answer.status}
          {answer.name ? `: ${answer.name}` : ""}
          {answer.reason ? `: ${answer.reason}` : ""}
        </p>
      )}
      {error && (
        <p class="note bad" role="alert">
          {error}
        </p>
      )}
    </section>
  );
}

function Stores() {
  const { data, error, reload } = useLoad(api.stores, 0);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) reload();
    }, 5000);
    return () => clearInterval(timer);
  }, []);
  return (
    <section class="card stack">
      <h2>Tournaments</h2>
      {error && <p class="note bad">{error}</p>}
      {data && data.stores.length === 0 && <p class="muted small">No store yet. Start a tournament below, or start the server with <code class="nowrap">--store</code>.</p>}
      <ul class="plain">
        {(data?.stores ?? []).map((store) => (
          <li key={store.id} class="row between">
            <a href={href(["host", "store", store.id])}>{store.id}</a>
            <span class="small muted">
              {plural(store.nMatches, "match", "matches")} {store.isRunning && <span class="badge good">running</span>}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

const exampleToml = `games = ["connect_four", "tic_tac_toe"]
players = ["agon", "cadia-2012"]
pairs = "all"
games_per_pair = 20
budget = { playouts = 500 }
seed = 1
`;

function TournamentForm() {
  const [name, setName] = useState("mine");
  const [toml, setToml] = useState(exampleToml);
  const [error, setError] = useState<string | null>(null);
  const run = async () => {
    setError(null);
    try {
      const { store } = await api.runTournament(name, toml);
      go(["host", "store", store]);
    } catch (fault) {
      setError(sentence(fault));
    }
  };
  return (
    <section class="card stack">
      <h2>Run a tournament</h2>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <label class="field">
          <span>Name</span>
          <input class="input" required pattern="[A-Za-z0-9_\-]+" value={name} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <label class="field">
          <span>File (.toml)</span>
          <textarea class="input mono" rows={7} spellcheck={false} value={toml} onInput={(event) => setToml(event.currentTarget.value)} />
        </label>
        <div class="row">
          <button type="submit" class="button primary">
            Run
          </button>
        </div>
        {error && (
          <p class="note bad" role="alert">
            {error}
          </p>
        )}
      </form>
    </section>
  );
}

function StorePage({ id }: { id: string }) {
  const first = useLoad(() => api.store(id), id);
  const [news, setNews] = useState<Store | null>(null);
  const [error, setError] = useState<string | null>(null);
  useEffect(() => listen(`stores/${encodeURIComponent(id)}/events`, { store: (data) => setNews(data as Store) }), [id]);
  const store = news ?? first.data;
  if (!store) return first.error ? <p class="page note bad">{first.error}</p> : <p class="page muted">Loading …</p>;
  const stop = () => api.stopTournament(id).catch((fault: unknown) => setError(sentence(fault)));
  return (
    <div class="page stack">
      <div class="row between">
        <h1>{store.id}</h1>
        <div class="row">
          {store.isRunning && (
            <button type="button" class="button" onClick={() => void stop()}>
              <Icon name="pause" /> Stop
            </button>
          )}
          <a class="button" href={href(["host"])}>
            All tournaments
          </a>
        </div>
      </div>
      <p class="row" role="status">
        <span class="badge">{plural(store.nMatches, "match", "matches")}</span>
        {store.isRunning && <span class="badge good">running</span>}
        {store.progress && (
          <label class="small row">
            {store.progress.done} of {store.progress.total}
            <progress max={store.progress.total} value={store.progress.done} />
          </label>
        )}
      </p>
      {(error ?? store.problem) && <p class="note bad">{error ?? store.problem}</p>}
      {store.tables.length === 0 && <p class="muted">No results yet.</p>}
      {store.tables.map((table) => (
        <section key={table.title} class="card stack">
          <h2>{table.title}</h2>
          <IntervalPlot rows={table.rows} />
          <div class="scroll-x" tabIndex={0} role="region" aria-label={`Results of ${table.title}`}>
            <table>
              <thead>
                <tr>
                  <th>game</th>
                  <th>first</th>
                  <th>second</th>
                  <th>budget</th>
                  <th class="number">matches</th>
                  <th class="number">wins</th>
                  <th class="number">draws</th>
                  <th class="number">losses</th>
                  <th class="number">score of first</th>
                  <th class="number">Elo</th>
                  <th>verdict</th>
                </tr>
              </thead>
              <tbody>
                {table.rows.map((row, idx) => (
                  <tr key={idx}>
                    <td>{row.game}</td>
                    <td>{row.first}</td>
                    <td>{row.second}</td>
                    <td>{row.budget}</td>
                    <td class="number">{row.nMatches}</td>
                    <td class="number">{row.wins}</td>
                    <td class="number">{row.draws}</td>
                    <td class="number">{row.losses}</td>
                    <td class="number">
                      {row.mean.toFixed(1)} <span class="muted">[{row.low.toFixed(1)}, {row.high.toFixed(1)}]</span>
                    </td>
                    <td class="number">{row.elo === null ? "–" : row.elo.toFixed(0)}</td>
                    <td>{row.verdict ?? ""}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </section>
      ))}
    </div>
  );
}

function OwnPlayer({ url }: { url: string }) {
  const [matches, setMatches] = useState<PlayerMatch[]>([]);
  const [reports, setReports] = useState<Record<string, Report>>({});
  useEffect(
    () =>
      listen("player/events", {
        player: (data) => setMatches((data as { matches: PlayerMatch[] }).matches),
        search: (data) => {
          const report = data as Report & { match: string };
          setReports((old) => ({ ...old, [report.match]: report }));
        },
      }),
    [],
  );
  return (
    <section class="card stack">
      <h2>This server's player</h2>
      <p class="small muted">
        It plays for managers at <span class="mono">{url}</span>.
      </p>
      {matches.length === 0 && <p class="small muted">It is in no match.</p>}
      {matches.map((match) => {
        const report = reports[match.id] ?? match.report;
        const roles = match.state.moves.map((_, idx) => ({ name: `role${idx}`, title: `Role ${idx + 1}`, isChance: false }));
        const colors = roleColors(roles.map((role) => role.name));
        return (
          <div key={match.id} class="stack">
            <p class="small">
              Match {match.id}, step {match.step}
            </p>
            {match.layout.kind !== "none" && <Board layout={match.layout} pieces={match.state.pieces} colors={colors} title="The player's match" last={match.state.last} />}
            {report && <SearchPanel report={report} roles={roles} colors={colors} />}
          </div>
        );
      })}
    </section>
  );
}
