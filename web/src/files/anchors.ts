// Where each file stands on the page, so that "image 5" in a text leads to it.
import { useLayoutEffect, useRef } from "preact/hooks";

/** All places of a number; the first of them has the id, for an id stands once in a page. */
const places = new Map<number, Set<HTMLElement>>();

const anchorOf = (number: number) => `file-${number}`;

/** A ref for the element that shows the file; a file without a number is no place to go to. */
export function useAnchor<Shown extends HTMLElement = HTMLElement>(number: number | null) {
  const element = useRef<Shown>(null);
  useLayoutEffect(() => (number === null || !element.current ? undefined : settle(number, element.current)), [number]);
  return element;
}

function settle(number: number, element: HTMLElement) {
  const all = places.get(number) ?? new Set();
  places.set(number, all.add(element));
  name(number, all);
  return () => {
    all.delete(element);
    element.removeAttribute("id");
    name(number, all);
  };
}

function name(number: number, all: Set<HTMLElement>) {
  const [first, ...others] = all;
  if (first) first.id = anchorOf(number);
  for (const other of others) other.removeAttribute("id");
}

const isCalm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Brings the file into view, gives it the focus and marks it for a moment. Nothing happens where it isn't shown. */
export function scrollToFile(number: number): void {
  const shown = document.getElementById(anchorOf(number));
  if (!shown) return;
  const message = shown.closest("li.message") ?? shown; // what is in a message that was never near has no place yet
  const isNear = Math.abs(message.getBoundingClientRect().top) < 2 * innerHeight;
  if (isNear) shown.scrollIntoView({ block: "center", behavior: isCalm() ? "auto" : "smooth" });
  else jump(shown);
  shown.focus({ preventScroll: true });
  shown.classList.remove("file-found");
  void shown.offsetWidth; // so that the mark starts anew when the same file is looked for again
  shown.classList.add("file-found");
  shown.addEventListener("animationend", () => shown.classList.remove("file-found"), { once: true });
}

/** So many frames a jump is put right, unless the reader scrolls. */
const settling = 40;

/** Far messages have no layout until they are near, so the way is only known when one is there. */
function jump(shown: HTMLElement) {
  const reader = new AbortController();
  for (const kind of ["wheel", "touchstart", "pointerdown", "keydown"])
    addEventListener(kind, () => reader.abort(), { signal: reader.signal, passive: true });
  let left = settling;
  const settle = () => {
    if (reader.signal.aborted) return;
    shown.scrollIntoView({ block: "center", behavior: "instant" });
    if (left-- > 0) requestAnimationFrame(settle);
    else reader.abort();
  };
  settle();
}
