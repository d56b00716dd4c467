// Keeps the end of a conversation in view while it grows, unless the reader has scrolled away from it.
import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";

/** So near to the end, in pixels, somebody counts as reading the end. */
const near = 80;

export function useStickiness() {
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const sticks = useRef(true);
  const [away, setAway] = useState(false);

  const toEnd = useCallback(() => {
    sticks.current = true;
    setAway(false);
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  }, []);

  const top = useRef(0);
  const onScroll = useCallback(() => {
    const element = box.current;
    if (!element) return;
    const rest = element.scrollHeight - element.scrollTop - element.clientHeight;
    // Growing content also fires scroll events: only going up is leaving, only the end is coming back.
    if (element.scrollTop < top.current - 1 && rest > near) sticks.current = false;
    else if (rest <= near) sticks.current = true;
    top.current = element.scrollTop;
    setAway(!sticks.current);
  }, []);

  useLayoutEffect(() => {
    const [element, inner] = [box.current, content.current];
    if (!element || !inner) return;
    const follow = () => {
      if (sticks.current) element.scrollTop = element.scrollHeight;
    };
    const watch = new ResizeObserver(follow);
    watch.observe(inner);
    watch.observe(element);
    follow();
    return () => watch.disconnect();
  }, []);
  return { box, content, away, onScroll, toEnd };
}
