// One thing that is loaded: its value, what went wrong, and a way to ask again.
import { useCallback, useEffect, useState } from "preact/hooks";
import { ApiError, unreachable } from "../api";

export type Loaded<T> = {
  value: T | null;
  error: ApiError | null;
  again: () => void;
  set: (value: T) => void;
};

/** Loads when `key` changes; answers that come late for an earlier key are dropped. A null key loads nothing. */
export function useLoaded<T>(key: string | null, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{ key: string | null; value: T | null; error: ApiError | null }>(nothing);
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (key === null) return;
    const stop = new AbortController();
    load(stop.signal).then(
      (value) => stop.signal.aborted || setState({ key, value, error: null }),
      (error: unknown) => stop.signal.aborted || setState({ key, value: null, error: asApiError(error) }),
    );
    return () => stop.abort();
  }, [key, round]);
  const again = useCallback(() => setRound((before) => before + 1), []);
  const set = useCallback((value: T) => setState({ key, value, error: null }), [key]);
  const current = state.key === key ? state : nothing;
  return { value: current.value, error: current.error, again, set };
}

const nothing = { key: null, value: null, error: null };

function asApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : unreachable();
}
