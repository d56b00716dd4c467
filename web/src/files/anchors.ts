// Where each file is on the page, so that links such as "image 5" can scroll to it.
import { useLayoutEffect, useRef } from "preact/hooks";

/** All elements of a number. Only the first has the id, because ids are unique. */
const places = new Map<number, Set<HTMLElement>>();

const anchorOf = (number: number) => `file-${number}`;

/** A ref for the element that shows the file. A file without a number isn't registered. */
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

/** What shows the files that are folded away, by number. */
const folded = new Map<number, () => void>();

/** Lets links unfold files that aren't on the page yet. */
export function useFolded(numbers: readonly (number | null)[], unfold: () => void): void {
  useLayoutEffect(() => {
    for (const number of numbers) if (number !== null) folded.set(number, unfold);
    return () => {
      for (const number of numbers) if (number !== null && folded.get(number) === unfold) folded.delete(number);
    };
  });
}

const isCalm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Whether the file is on the page, or folded away. */
export const isOnPage = (number: number): boolean => folded.has(number) || Boolean(places.get(number)?.size);

/** Scrolls to the file, focuses it and highlights it briefly. Does nothing if the file isn't shown. */
export function scrollToFile(number: number): void {
  const unfold = folded.get(number);
  unfold?.();
  if (unfold) requestAnimationFrame(() => show(number));
  else show(number);
}

function show(number: number): void {
  const shown = document.getElementById(anchorOf(number));
  if (shown) reveal(shown);
}

/** Scrolls to a message or a file, focuses it and highlights it briefly. */
export function reveal(shown: HTMLElement): void {
  const message = shown.closest("li.message") ?? shown; // messages that were never near have no layout yet
  const isNear = Math.abs(message.getBoundingClientRect().top) < 2 * innerHeight;
  if (isNear) shown.scrollIntoView({ block: "center", behavior: isCalm() ? "auto" : "smooth" });
  else jump(shown);
  shown.focus({ preventScroll: true });
  shown.classList.remove("file-found");
  void shown.offsetWidth; // restart the animation if the file is already highlighted
  shown.classList.add("file-found");
  shown.addEventListener("animationend", () => shown.classList.remove("file-found"), { once: true });
}

/** Number of frames in which a jump is corrected, unless the user scrolls. */
const settling = 40;

/** Far messages have no layout until they are near, so the target position is corrected on arrival. */
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
