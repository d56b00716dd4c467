// The page's addresses: /, /c/{id}, /settings, /matrix. A reload or a link gives the same view.
import { useEffect, useState } from "preact/hooks";

export type Route =
  | { at: "new" }
  | { at: "conversation"; id: string }
  | { at: "settings" }
  | { at: "matrix" }
  | { at: "nowhere" };

/** What a path shows. */
function routeOf(path: string): Route {
  if (path === "/") return { at: "new" };
  if (path === "/settings") return { at: "settings" };
  if (path === "/matrix") return { at: "matrix" };
  const id = readId(path);
  return id ? { at: "conversation", id } : { at: "nowhere" };
}

/** The conversation's id in a path; null where there is none, or none that can be read. */
function readId(path: string): string | null {
  try {
    return decodeURIComponent(/^\/c\/([^/]+)$/.exec(path)?.[1] ?? "") || null;
  } catch {
    return null; // such as %E0%A4%A
  }
}

export const pathOf = (id: string) => `/c/${encodeURIComponent(id)}`;

const moved = "moved";

/** What closes each thing that lies over the view, the uppermost last. Each has an entry of the history, which Back
 * leaves; its state is how many there are. */
const covers: (() => void)[] = [];
const depth = () => Number(history.state);
let returning = false;

/** Has the browser's Back call `close`, until what is given is called. */
export function cover(close: () => void): () => void {
  covers.push(close);
  setTimeout(settle);
  return () => {
    const at = covers.indexOf(close);
    if (at >= 0) covers.splice(at, 1);
    setTimeout(settle);
  };
}

/** Afterwards, so that what follows another takes over its entry. */
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

/** Goes to another view, which takes the place of what lies over this one; `replace` gives this one a new address. */
export function go(path: string, replace = false): void {
  if (returning) return window.addEventListener("popstate", () => go(path, replace), { once: true });
  if (path === location.pathname && !replace) {
    window.dispatchEvent(new CustomEvent("same-place", { detail: path }));
    return;
  }
  history[replace || depth() ? "replaceState" : "pushState"](replace ? history.state : null, "", path);
  window.dispatchEvent(new Event(moved));
}

export function useRoute(): Route {
  const [path, setPath] = useState(location.pathname);
  useEffect(() => {
    const read = () => setPath(location.pathname);
    window.addEventListener("popstate", read);
    window.addEventListener(moved, read);
    return () => {
      window.removeEventListener("popstate", read);
      window.removeEventListener(moved, read);
    };
  }, []);
  return routeOf(path);
}

/** For a link's onClick: our own view without loading the page anew, unless a new tab was asked for. */
export function follow(event: MouseEvent): void {
  const link = event.currentTarget as HTMLAnchorElement;
  const wantsAnother = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
  if (event.defaultPrevented || event.button || wantsAnother) return;
  event.preventDefault();
  go(link.pathname + link.hash);
}
