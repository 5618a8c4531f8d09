// The frame of all pages: name, navigation, theme, and the page that the address asks for.

import { lazy } from "./lazy";
import { Component, type ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Icon, type IconName } from "./parts/Icon";
import { href, useRoute, type Route } from "./route";
import { Gallery } from "./views/Gallery";
import { MatchView } from "./views/MatchView";
import { Setup } from "./views/Setup";
import { Explore } from "./views/Explore";

const Write = lazy(() => import("./views/Write").then((module) => module.Write));
const Host = lazy(() => import("./views/Host").then((module) => module.Host));
const Records = lazy(() => import("./views/Records").then((module) => module.Records));

export function App() {
  const route = useRoute();
  const page = route.path[0] ?? "";
  useEffect(() => {
    document.title = titles.get(page) ?? "Agon";
    window.scrollTo(0, 0);
  }, [page]);
  return (
    <>
      <a
        class="skip button"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById("main")?.focus();
        }}
      >
        Skip to the content
      </a>
      <header class="top">
        <a class="brand" href={href([])} aria-label="Agon, all games">
          <svg viewBox="0 0 64 64" aria-hidden="true">
            <rect width="64" height="64" rx="14" fill="#1f5f6b" />
            <path d="M14 50 32 12l18 38h-9l-9-20-9 20z" fill="#fff" />
            <circle cx="32" cy="46" r="5.5" fill="#e9a23b" />
          </svg>
          <span>Agon</span>
        </a>
        <nav aria-label="Pages">
          <NavLink to={[]} page={page} name={["", "new", "match", "explore"]} icon="play" text="Games" />
          <NavLink to={["records"]} page={page} name={["records"]} icon="open" text="Replay" />
          <NavLink to={["write"]} page={page} name={["write"]} icon="code" text="Write" />
          <NavLink to={["host"]} page={page} name={["host"]} icon="people" text="Host" />
        </nav>
        <ThemeSwitch />
      </header>
      <main id="main" tabIndex={-1}>
        <Guard key={route.path.slice(0, 2).join("/")}>
          <Page route={route} />
        </Guard>
      </main>
    </>
  );
}

const titles = new Map(Object.entries({
  "": "Agon – games",
  new: "New match – Agon",
  match: "Match – Agon",
  explore: "Position – Agon",
  records: "Replay – Agon",
  write: "Write a game – Agon",
  host: "Host – Agon",
}));

/** A page that fails is replaced by a note; the other pages still work. */
class Guard extends Component<{ children: ComponentChildren }, { hasFailed: boolean }> {
  override state = { hasFailed: false };
  override componentDidCatch(fault: unknown) {
    console.error(fault);
    this.setState({ hasFailed: true });
  }
  override render() {
    if (!this.state.hasFailed) return this.props.children;
    return (
      <div class="page stack">
        <div class="note bad" role="alert">
          This page has failed, which is a fault of Agon. Nothing on the server is lost.
        </div>
        <div class="row">
          <button type="button" class="button" onClick={() => window.location.reload()}>
            Load it again
          </button>
          <a class="button" href={href([])}>
            All games
          </a>
        </div>
      </div>
    );
  }
}

function Page({ route }: { route: Route }) {
  const [page = "", id = "", sub = ""] = route.path;
  switch (page) {
    case "":
      return <Gallery />;
    case "new":
      return <Setup game={id} moves={route.query.get("moves")} />;
    case "match":
      return <MatchView key={id} id={id} seat={route.query.get("seat")} />;
    case "explore":
      return <Explore game={id} moves={route.query.get("moves")} rules={route.query.get("rules")} />;
    case "records":
      return <Records />;
    case "write":
      return <Write game={route.query.get("game")} />;
    case "host":
      return <Host section={id} id={sub} />;
    default:
      return (
        <div class="page stack">
          <h1>There is no such page</h1>
          <a class="button" href={href([])}>
            All games
          </a>
        </div>
      );
  }
}

function NavLink(props: { to: string[]; page: string; name: string[]; icon: IconName; text: string }) {
  const isHere = props.name.includes(props.page);
  return (
    <a class="nav-link" href={href(props.to)} aria-current={isHere ? "page" : undefined}>
      <Icon name={props.icon} />
      <span>{props.text}</span>
    </a>
  );
}

type Theme = "system" | "light" | "dark";

function ThemeSwitch() {
  const [theme, setTheme] = useState<Theme>(() => (document.documentElement.dataset.theme as Theme | undefined) ?? "system");
  const next: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };
  const icons: Record<Theme, IconName> = { system: "system", light: "sun", dark: "moon" };
  const change = () => {
    const chosen = next[theme];
    setTheme(chosen);
    if (chosen === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = chosen;
    try {
      if (chosen === "system") localStorage.removeItem("agon.theme");
      else localStorage.setItem("agon.theme", chosen);
    } catch {
      // Not kept.
    }
  };
  return (
    <button type="button" class="button quiet icon-button theme-switch" aria-label={`Theme: ${theme}`} title={`Theme: ${theme}`} onClick={change}>
      <Icon name={icons[theme]} />
    </button>
  );
}
