// What of a conversation is in view while it grows: its end, or the question that is being answered, so that the answer
// is read from its beginning. A reader who has scrolled elsewhere is left alone.
import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";

/** So near to the end, in pixels, somebody counts as reading the end. */
const near = 80;
/** Above a question that stands at the top of the view, in pixels. */
const gap = 16;
/** Of a question that is higher than this share of the view, only so much of its end is kept in view. */
const share = 0.4;

export function useStickiness() {
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const sticks = useRef(true);
  /** Whether following stops where the question would leave the view. */
  const holds = useRef(false);
  const top = useRef(0);
  const [away, setAway] = useState(false);

  /** Growing content also fires scroll events, without a move. Only a move is leaving, only the end is coming back. */
  const weigh = (element: HTMLElement) => {
    const rest = element.scrollHeight - element.scrollTop - element.clientHeight;
    const moved = element.scrollTop - top.current;
    if (rest <= near) {
      sticks.current = true;
      if (moved > 1) holds.current = false;
    } else if (moved < -1 || (holds.current && moved > 1)) sticks.current = false;
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
    top.current = 0;
    follow();
  };
  const toEnd = useCallback(() => stick(false), []);
  const toQuestion = useCallback(() => stick(true), []);

  const onScroll = useCallback(() => void (box.current && weigh(box.current)), []);

  useLayoutEffect(() => {
    const [element, inner] = [box.current, content.current];
    if (!element || !inner) return;
    const watch = new ResizeObserver(follow);
    watch.observe(inner);
    watch.observe(element);
    follow();
    return () => watch.disconnect();
  }, []);
  return { box, content, away, onScroll, toEnd, toQuestion };
}

/** How far down the view is where the last question stands at its top, or, of a high one, the end of it. */
function startOf(box: HTMLElement): number {
  const question = box.querySelector(".messages > .question:nth-last-child(-n + 2)");
  if (!question) return Infinity;
  const { top, bottom } = question.getBoundingClientRect();
  const before = box.scrollTop - box.getBoundingClientRect().top;
  return before + Math.max(top - gap, bottom - box.clientHeight * share);
}
