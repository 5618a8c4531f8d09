// Data of the server as state of a component.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { sentence } from "../api";

export interface Loaded<T> {
  data: T | null;
  error: string | null;
  reload: () => void;
}

/** Loads when `key` changes; an answer to an old question is dropped. */
export function useLoad<T>(get: () => Promise<T>, key: unknown): Loaded<T> {
  const [data, setData] = useState<T | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    setError(null);
    get().then(
      (answer) => isCurrent && setData(answer),
      (fault: unknown) => isCurrent && setError(sentence(fault)),
    );
    return () => {
      isCurrent = false;
    };
  }, [key, round]);
  return { data, error, reload: useCallback(() => setRound((n) => n + 1), []) };
}

/** The newest version of a function under a name that never changes, for listeners. */
export function useLatest<Args extends unknown[], Result>(act: (...args: Args) => Result): (...args: Args) => Result {
  const latest = useRef(act);
  latest.current = act;
  return useCallback((...args: Args) => latest.current(...args), []);
}
