// What the `Lightbox` shows: pictures, or the pages of a document.
import { useEffect, useState } from "preact/hooks";
import type { Attachment } from "./attachment";

/** `small` is shown until `large` is loaded; `download` is the URL of the original; `remove` opens the delete dialog, `attach` takes a part as a new file. */
export type Picture = {
  name?: string | undefined;
  large: string;
  small?: string | undefined;
  title: string;
  note?: string | undefined;
  width: number;
  height: number;
  download?: string | undefined;
  remove?: (() => void) | undefined;
  attach?: ((file: File) => void) | undefined;
};

type Viewed = { what: "pictures"; pictures: readonly Picture[]; at: number } | { what: "pages"; file: Attachment; page?: number };

let viewed: Viewed | null = null;
const watchers = new Set<(now: Viewed | null) => void>();

export function view(next: Viewed | null): void {
  viewed = next;
  for (const watch of watchers) watch(next);
}

export function useViewed(): Viewed | null {
  const [now, see] = useState(viewed);
  useEffect(() => {
    watchers.add(see);
    see(viewed);
    return () => void watchers.delete(see);
  }, []);
  return now;
}
