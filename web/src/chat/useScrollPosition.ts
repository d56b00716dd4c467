// What of a conversation is in view while it grows: its end, or the question that is being answered, so that the answer
// is read from its beginning. A reader who has scrolled elsewhere is left alone.
import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";

/** So near to the end, in pixels, somebody counts as reading the end. */
const near = 80;
/** Above a question that stands at the top of the view, in pixels. */
const gap = 16;
/** Of a question that is higher than this share of the view, only so much of its end is kept in view. */
const share = 0.4;
/** For so long after a hand was on wheel, screen, key or scrollbar a move is the reader's, in milliseconds. */
const grip = 1000;
const hands = ["wheel", "touchmove", "pointerdown", "keydown"];

/** `begins` says that there is nothing to follow until something is asked. */
export function useStickiness(begins: boolean) {
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const sticks = useRef(!begins);
  /** Whether following stops where the question would leave the view. */
  const holds = useRef(false);
  const top = useRef(0);
  const touched = useRef(-grip);
  const [away, setAway] = useState(false);

  /** The browser moves the view, too, where content or view change their size: only what a reader moves is leaving. */
  const weigh = (element: HTMLElement) => {
    const rest = element.scrollHeight - element.scrollTop - element.clientHeight;
    const moved = element.scrollTop - top.current;
    const now = performance.now();
    if (now - touched.current < grip) {
      touched.current = now; // a swipe goes on after the finger has left
      if (rest <= near) {
        sticks.current = true;
        if (moved > 1) holds.current = false;
      } else if (moved < -1 || (holds.current && moved > 1)) sticks.current = false;
    }
    top.current = element.scrollTop;
    setAway(rest > near);
  };

  const follow = useCallback(() => {
    const element = box.current;
    if (!element) return;
    if (element.scrollTop < top.current) weigh(element); // a move of which no event has told yet
    const end = element.scrollHeight - element.clientHeight;
    if (sticks.current) {
      element.scrollTop = holds.current ? Math.min(end, startOf(element)) : end;
      top.current = element.scrollTop;
    }
    setAway(end - element.scrollTop > near);
  }, []);

  const stick = (toQuestion: boolean) => {
    sticks.current = true;
    holds.current = toQuestion;
    touched.current = -grip;
  };
  const toEnd = useCallback(() => {
    stick(false);
    follow();
  }, []);
  /** From the next growth on: the question may not be there yet. */
  const toQuestion = useCallback(() => stick(true), []);

  const onScroll = useCallback(() => void (box.current && weigh(box.current)), []);

  useLayoutEffect(() => {
    const [element, inner] = [box.current, content.current];
    if (!element || !inner) return;
    const watch = new ResizeObserver(follow);
    watch.observe(inner);
    watch.observe(element);
    const touch = (event: Event) => {
      if (!(event.target instanceof HTMLTextAreaElement)) touched.current = performance.now();
    };
    for (const kind of hands) window.addEventListener(kind, touch, { passive: true });
    follow();
    return () => {
      watch.disconnect();
      for (const kind of hands) window.removeEventListener(kind, touch);
    };
  }, []);
  return { box, content, away, onScroll, follow, toEnd, toQuestion };
}

/** How far down the view is where the last question stands at its top, or, of a high one, the end of it. */
function startOf(box: HTMLElement): number {
  const question = box.querySelector(".messages > .question:nth-last-child(-n + 2)");
  if (!question) return Infinity;
  const { top, bottom } = question.getBoundingClientRect();
  const before = box.scrollTop - box.getBoundingClientRect().top;
  return before + Math.max(top - gap, bottom - box.clientHeight * share);
}
