// Addresses of pages: `#/match/0f…?seat=77…`. What is after `#` is not sent to servers, so tokens stay in the browser.

import { useEffect, useState } from "preact/hooks";

export interface Route {
  path: string[];
  query: URLSearchParams;
}

export function parseRoute(hash: string): Route {
  const text = hash.replace(/^#\/?/, "");
  const cut = text.indexOf("?");
  const path = cut < 0 ? text : text.slice(0, cut);
  const query = new URLSearchParams(cut < 0 ? "" : text.slice(cut + 1));
  const parts = path.split("/").filter((part) => part !== "");
  return { path: parts.map(decodePart), query };
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function href(path: string[], query: Record<string, string> = {}): string {
  const search = new URLSearchParams(query).toString();
  return `#/${path.map(encodeURIComponent).join("/")}${search === "" ? "" : `?${search}`}`;
}

export function go(path: string[], query: Record<string, string> = {}): void {
  window.location.hash = href(path, query).slice(1);
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(window.location.hash));
  useEffect(() => {
    const update = () => setRoute(parseRoute(window.location.hash));
    window.addEventListener("hashchange", update);
    // The address may have changed since the first drawing, before anybody listened.
    update();
    return () => window.removeEventListener("hashchange", update);
  }, []);
  return route;
}
