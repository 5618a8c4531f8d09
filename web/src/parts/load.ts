// Data of the server as state of a component.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { sentence } from "../api";

export interface Loaded<T> {
  data: T | null;
  error: string | null;
  reload: () => void;
}

interface Answer<T> {
  key: unknown;
  data: T | null;
  error: string | null;
}

/** Loads when `key` changes. What belongs to an older key is not shown: the pages of two games have nothing in common. */
export function useLoad<T>(get: () => Promise<T>, key: unknown): Loaded<T> {
  const [answer, setAnswer] = useState<Answer<T> | null>(null);
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    setAnswer((old) => (old !== null && old.key === key ? { ...old, error: null } : null));
    get().then(
      (data) => isCurrent && setAnswer({ key, data, error: null }),
      (fault: unknown) => isCurrent && setAnswer((old) => ({ key, data: old === null ? null : old.data, error: sentence(fault) })),
    );
    return () => {
      isCurrent = false;
    };
  }, [key, round]);
  const known = answer?.key === key ? answer : null;
  return { data: known?.data ?? null, error: known?.error ?? null, reload: useCallback(() => setRound((n) => n + 1), []) };
}

/** The newest version of a function under a name that never changes, for listeners. */
export function useLatest<Args extends unknown[], Result>(act: (...args: Args) => Result): (...args: Args) => Result {
  const latest = useRef(act);
  latest.current = act;
  return useCallback((...args: Args) => latest.current(...args), []);
}
