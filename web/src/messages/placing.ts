// Where the model has placed files in its text. Each file of an answer is rendered once, at its first place.
import { createContext, type RefObject } from "preact";
import { useContext, useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";
import type { Attachment } from "../files";

export type Placing = ReturnType<typeof makePlacing>;

export function makePlacing() {
  const places = new Map<number, Set<Element>>();
  const readers = new Set<() => void>();
  const tell = () => [...readers].forEach((read) => read());
  const precedes = (one: Element, other: Element) =>
    Boolean(one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING);
  return {
    has: (number: number) => places.has(number),
    isFirst: (number: number, place: Element) =>
      [...(places.get(number) ?? [])].every((other) => other === place || precedes(place, other)),
    /** Registers a place of a file. Returns a function that removes it. */
    put(number: number, place: Element) {
      const all = places.get(number) ?? new Set();
      places.set(number, all.add(place));
      tell();
      return () => {
        all.delete(place);
        if (!all.size && places.get(number) === all) places.delete(number);
        tell();
      };
    },
    hear(read: () => void) {
      readers.add(read);
      return () => void readers.delete(read);
    },
  };
}

/** Null if files aren't rendered, such as in reasoning. */
export const PlacingContext = createContext<Placing | null>(null);

/** A ref for a place in the text, and whether the file is rendered there. Without a number nothing is registered. */
export function usePlace(number: number | null): [RefObject<HTMLSpanElement | null>, boolean] {
  const placing = useContext(PlacingContext);
  const place = useRef<HTMLSpanElement>(null);
  const [first, setFirst] = useState(false);
  useLayoutEffect(() => {
    const element = place.current;
    if (!placing || number === null || !element) return setFirst(false);
    const silent = placing.hear(() => setFirst(placing.isFirst(number, element)));
    const leave = placing.put(number, element);
    return () => {
      silent();
      leave();
    };
  }, [placing, number]);
  return [place, first];
}

/** Files without a place in the text. */
export function useUnplaced(placing: Placing, files: readonly Attachment[]): Attachment[] {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useLayoutEffect(() => placing.hear(() => redraw(undefined)), [placing]);
  return files.filter((file) => file.number === null || !placing.has(file.number));
}
