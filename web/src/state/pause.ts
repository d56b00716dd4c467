// Delays between retries.

/** Backoff for an unreachable server, in milliseconds. */
const waits = [500, 1000, 2000, 4000, 8000, 15000];

/** Milliseconds to wait after `round` failed attempts. */
export const waitOf = (round: number): number => waits[round] ?? waits.at(-1) ?? 0;

/** Waits, or returns early when the browser is back online. */
export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      window.removeEventListener("online", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    window.addEventListener("online", done);
  });
}
