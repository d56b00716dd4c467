// Loads modules on demand, over a connection that may fail for a while.
import { loadRest } from "../language";
import { at } from "../prefix";
import { pause, waitOf } from "./pause";

/** Retries while the server is unreachable, and once more when it is back. Browsers from before 2026 cache the failure
 * of an import: there the second attempt fails at once, and only a page reload helps. */
export async function loadWithRetry<T>(load: () => Promise<T>, onMiss = () => {}): Promise<T> {
  for (let round = 0; ; round += 1) {
    const reached = round > 0 && (await isReachable());
    try {
      return await load();
    } catch (error) {
      if (reached) throw error;
      onMiss();
      dropBrokenStyles();
      await pause(waitOf(round));
    }
  }
}

/** Loads a lazy part of the page together with its words. */
export const loadPart = <T>(load: () => Promise<T>, onMiss?: () => void): Promise<T> =>
  loadWithRetry(async () => (await Promise.all([load(), loadRest()]))[0], onMiss);

const isReachable = () => fetch(at("/healthz"), { cache: "no-store" }).then((answer) => answer.ok, () => false);

/** Removes failed style sheets; the module's next import would count them as loaded. */
function dropBrokenStyles(): void {
  for (const link of document.querySelectorAll<HTMLLinkElement>("link[rel=stylesheet]")) if (!link.sheet) link.remove();
}
