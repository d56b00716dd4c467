// Where the focus goes when a row of the list moves or disappears.

/** Milliseconds within which the list is loaded again. */
const PATIENT = 10_000;

const linksIn = (list: Element) => [...list.querySelectorAll<HTMLAnchorElement>(".row > a")];

/** The link of the row that has an element. */
export const linkOf = (element: Element | null) => element?.closest(".row")?.querySelector("a") ?? null;

/** Focuses a row, once what covers it is gone. */
export function focusRow(link: HTMLAnchorElement | null): void {
  requestAnimationFrame(() => isFree() && link?.focus());
}

/** Whether the element with the focus was removed or never there. */
const isFree = () => !document.activeElement || document.activeElement === document.body;

let watch: MutationObserver | null = null;

/** Keeps the focus in the list when it changes: on the row, or on the next one, or on the search. */
export function keepFocus(link: HTMLAnchorElement | null): void {
  const list = link?.closest(".side-list");
  if (!link || !list) return;
  const paths = linksIn(list).map((each) => each.pathname);
  const at = paths.indexOf(link.pathname);
  const wanted = [...paths.slice(at), ...paths.slice(0, at).reverse()];
  watch?.disconnect();
  const mine = new MutationObserver(() => {
    if (!isFree()) return;
    const links = linksIn(list);
    const next = wanted.map((path) => links.find((each) => each.pathname === path)).find(Boolean);
    (next ?? document.querySelector<HTMLElement>(".side-search input"))?.focus();
  });
  watch = mine;
  mine.observe(list, { childList: true, subtree: true });
  const stop = () => mine.disconnect();
  setTimeout(stop, PATIENT);
  addEventListener("pointerdown", stop, { once: true });
}
