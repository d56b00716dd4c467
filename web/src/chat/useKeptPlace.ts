// Keeps the view where it is when messages are added above it.
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Message } from "../types";

export function useKeptPlace(box: RefObject<HTMLElement | null>, messages: readonly Message[]) {
  const first = messages[0]?.id;
  const before = useRef(first);
  const fromEnd = useRef<number | null>(null);
  if (before.current !== first) {
    const isAbove = messages.findIndex((message) => message.id === before.current) > 0;
    // The elements are still those of the last time.
    fromEnd.current = isAbove && box.current ? box.current.scrollHeight - box.current.scrollTop : null;
    before.current = first;
  }
  useLayoutEffect(() => {
    if (box.current && fromEnd.current !== null) box.current.scrollTop = box.current.scrollHeight - fromEnd.current;
    fromEnd.current = null;
  }, [first]);
}
