// Waiting until it is worth asking once more.

/** How long to wait before looking again for a server that is away, in milliseconds. */
const waits = [500, 1000, 2000, 4000, 8000, 15000];

/** How long to wait after so many that were in vain, in milliseconds. */
export const waitOf = (round: number): number => waits[round] ?? waits.at(-1) ?? 0;

/** Waits so many milliseconds, but not longer than until the browser says that the network is there again. */
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
