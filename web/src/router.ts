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

/** Goes to another view; `replace` gives the present one a new address instead. */
export function go(path: string, replace = false): void {
  if (path === location.pathname && !replace) {
    window.dispatchEvent(new CustomEvent("same-place", { detail: path }));
    return;
  }
  history[replace ? "replaceState" : "pushState"](null, "", path);
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
  go(link.pathname);
}
