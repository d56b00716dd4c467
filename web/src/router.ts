// Client-side routes: /, /c/{id}, /files, /settings, /matrix.
import { useEffect, useState } from "preact/hooks";
import { at, within } from "./prefix";

export type Route =
  | { at: "new" }
  | { at: "conversation"; id: string }
  | { at: "files" }
  | { at: "settings" }
  | { at: "matrix" }
  | { at: "nowhere" };

function routeOf(path: string): Route {
  if (path === "/") return { at: "new" };
  if (path === "/files") return { at: "files" };
  if (path === "/settings") return { at: "settings" };
  if (path === "/matrix") return { at: "matrix" };
  const id = readId(path);
  return id ? { at: "conversation", id } : { at: "nowhere" };
}

/** The conversation's id in a path, or null if it is missing or can't be decoded. */
function readId(path: string): string | null {
  try {
    return decodeURIComponent(/^\/c\/([^/]+)$/.exec(path)?.[1] ?? "") || null;
  } catch {
    return null; // such as %E0%A4%A
  }
}

export const pathOf = (id: string) => `/c/${encodeURIComponent(id)}`;

/** The current path within this application. */
export const here = () => within(location.pathname);

/** The event of a navigation within this page. */
export const moved = "moved";

/** Close functions of the open overlays, the topmost last. Each overlay has a history entry that Back leaves; the
 * entry's state is the number of overlays. */
const covers: (() => void)[] = [];
const depth = () => Number(history.state);
let returning = false;

/** Makes the browser's Back call `close`. Returns a function that undoes it. */
export function cover(close: () => void): () => void {
  covers.push(close);
  setTimeout(settle);
  return () => {
    const at = covers.indexOf(close);
    if (at >= 0) covers.splice(at, 1);
    setTimeout(settle);
  };
}

/** Deferred, so that an overlay that replaces another one reuses its history entry. */
function settle() {
  if (returning) return;
  for (let at = depth(); at < covers.length; ) history.pushState(++at, "");
  returning = depth() > covers.length;
  if (returning) history.go(covers.length - depth());
}

window.addEventListener("popstate", () => {
  if (returning) {
    returning = false;
    settle();
  } else for (const close of covers.splice(depth()).reverse()) close();
});

/** Navigates to a path of this application and closes all overlays; `replace` replaces the current history entry. */
export function go(path: string, replace = false): void {
  if (returning) return window.addEventListener("popstate", () => go(path, replace), { once: true });
  if (path === here() && !replace) {
    window.dispatchEvent(new CustomEvent("same-place", { detail: path }));
    return;
  }
  history[replace || depth() ? "replaceState" : "pushState"](replace ? history.state : null, "", at(path));
  window.dispatchEvent(new Event(moved));
}

export function useRoute(): Route {
  const [path, setPath] = useState(here());
  useEffect(() => {
    const read = () => setPath(here());
    window.addEventListener("popstate", read);
    window.addEventListener(moved, read);
    return () => {
      window.removeEventListener("popstate", read);
      window.removeEventListener(moved, read);
    };
  }, []);
  return routeOf(path);
}

/** onClick handler for links: navigates without a page load, unless the click opens a new tab. */
export function follow(event: MouseEvent): void {
  const link = event.currentTarget as HTMLAnchorElement;
  const wantsAnother = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
  if (event.defaultPrevented || event.button || wantsAnother) return;
  event.preventDefault();
  go(within(link.pathname) + link.hash);
}
