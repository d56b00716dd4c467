// Which rows of a long list are in view or near it. Only these are on the page, and the one that has the focus.
import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

/** Rows above and below the view, and by how many the range moves: a new one for each pixel would cost too much. */
const MARGIN = 8;
const STEP = 4;

type Range = { from: number; to: number };

/** `list` has room for `count` rows of one height, and scrolls within `.talk`. */
export function useRowsInView(list: RefObject<HTMLElement | null>, count: number): Range {
  const [range, setRange] = useState<Range>({ from: 0, to: 4 * MARGIN });
  useLayoutEffect(() => {
    const element = list.current;
    const box = element?.closest(".talk");
    if (!element || !box) return;
    const read = () => {
      const row = element.offsetHeight / count;
      if (!row) return;
      const above = box.getBoundingClientRect().top - element.getBoundingClientRect().top;
      const from = Math.max(0, Math.floor((above / row - MARGIN) / STEP) * STEP);
      const to = Math.ceil(((above + box.clientHeight) / row + MARGIN) / STEP) * STEP;
      setRange((now) => (now.from === from && now.to === to ? now : { from, to }));
    };
    read();
    const watch = new ResizeObserver(read);
    watch.observe(box);
    watch.observe(element);
    box.addEventListener("scroll", read, { passive: true });
    return () => {
      watch.disconnect();
      box.removeEventListener("scroll", read);
    };
  }, [count]);
  return range;
}
