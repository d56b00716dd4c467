// Scroll position of a growing conversation: follows its end, or keeps the current question at the top, so that the
// answer can be read from its start. Doesn't move the view after the user has scrolled away.
import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";

/** Distance from the end in pixels that still counts as being at the end. */
const near = 80;
/** Pixels above a question at the top of the view. */
const gap = 16;
/** A question may fill at most this share of the view; of a taller one only the end stays in view. */
const share = 0.4;
/** Milliseconds after wheel, touch, key or pointer input during which scrolling counts as the user's. */
const grip = 1000;
const hands = ["wheel", "touchmove", "pointerdown", "keydown"];

/** `begins`: there is nothing to follow yet: the conversation is new, or a place in it will be shown. */
export function useStickiness(begins: boolean) {
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const sticks = useRef(!begins);
  /** Whether following stops before the question would leave the view. */
  const holds = useRef(false);
  const top = useRef(0);
  const touched = useRef(-grip);
  const [away, setAway] = useState(false);

  /** The browser scrolls too when the content or the view is resized; only a scroll by the user stops following. */
  const weigh = (element: HTMLElement) => {
    const rest = element.scrollHeight - element.scrollTop - element.clientHeight;
    const moved = element.scrollTop - top.current;
    const now = performance.now();
    if (now - touched.current < grip) {
      touched.current = now; // inertia continues after the finger is lifted
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
    if (element.scrollTop < top.current) weigh(element); // a scroll whose event is still pending
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
  /** Takes effect at the next growth, because the question may not be rendered yet. */
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
  const stay = useCallback(() => void (sticks.current = false), []);
  return { box, content, away, onScroll, follow, toEnd, toQuestion, stay };
}

/** Scroll position with the last question at the top of the view, or with only the end of a tall one. */
function startOf(box: HTMLElement): number {
  const question = box.querySelector(".messages > .question:nth-last-child(-n + 2)");
  if (!question) return Infinity;
  const { top, bottom } = question.getBoundingClientRect();
  const before = box.scrollTop - box.getBoundingClientRect().top;
  return before + Math.max(top - gap, bottom - box.clientHeight * share);
}
