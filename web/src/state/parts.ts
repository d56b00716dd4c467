// Modules of the page that are loaded late, over a connection that may be away for a while.
import { pause, waitOf } from "./pause";

/** Tries again for as long as the server can't be reached, and once when it can. Browsers of before 2026 remember that a
 * module didn't come: there the second try fails at once, and only a page that is loaded anew asks for it again. */
export async function loadPatiently<T>(load: () => Promise<T>, onMiss = () => {}): Promise<T> {
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

const isReachable = () => fetch("/healthz", { cache: "no-store" }).then((answer) => answer.ok, () => false);

/** A style sheet that failed stays in the document, and the module's next import would take it for loaded. */
function dropBrokenStyles(): void {
  for (const link of document.querySelectorAll<HTMLLinkElement>("link[rel=stylesheet]")) if (!link.sheet) link.remove();
}
