// One loaded value with its error and a reload function.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ApiError, unreachable } from "../api";
import { pause, waitOf } from "./pause";

export type Loaded<T> = {
  value: T | null;
  error: ApiError | null;
  again: () => void;
  /** Drops a load that is on its way: its response is older than a change that is made now. */
  stop: () => void;
  set: (value: T) => void;
};

/** Loads when `key` changes and retries temporary errors. Late responses for an earlier key, or from before a value was
 * set, are dropped; a null key loads nothing. */
export function useLoaded<T>(key: string | null, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState<State<T>>(nothing);
  const [round, setRound] = useState(0);
  const loading = useRef<AbortController | null>(null);
  useEffect(() => {
    if (key === null) return;
    const stop = new AbortController();
    loading.current = stop;
    load(stop.signal).then(
      (value) => stop.signal.aborted || setState({ key, value, error: null }),
      (error: unknown) => stop.signal.aborted || setState((now) => missed(now, key, asApiError(error))),
    );
    return () => stop.abort();
  }, [key, round]);
  const again = useCallback(() => setRound((before) => before + 1), []);
  const stop = useCallback(() => loading.current?.abort(), []);
  const set = useCallback((value: T) => (stop(), setState({ key, value, error: null })), [key]);
  const current = state.key === key ? state : nothing;
  useAgain(current.error, again);
  return { value: current.value, error: current.error, again, stop, set };
}

/** Retries temporary errors: network, server errors, too many requests. */
function useAgain(error: ApiError | null, again: () => void): void {
  const round = useRef(0);
  useEffect(() => {
    if (!error) round.current = 0;
    if (!error || !(error.status === 0 || error.status === 429 || error.status >= 500)) return;
    let left = false;
    const wait = Math.max(waitOf(round.current++), 1000 * (error.retryAfter ?? 0));
    void pause(wait).then(() => left || again());
    return () => void (left = true);
  }, [error]);
}

type State<T> = { key: string | null; value: T | null; error: ApiError | null };

/** A failed reload keeps the previous value. */
function missed<T>(now: State<T>, key: string, error: ApiError): State<T> {
  return { key, value: now.key === key ? now.value : null, error };
}

const nothing = { key: null, value: null, error: null };

function asApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : unreachable();
}
