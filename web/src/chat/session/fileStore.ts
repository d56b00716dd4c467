// The files of one conversation. Components hear only of the file they show: a new one draws nothing else again.
import { createContext } from "preact";
import { useCallback, useContext, useEffect, useState } from "preact/hooks";
import type { Attachment } from "../../files";

export type Filing = ReturnType<typeof makeFiling>;

export function makeFiling(attachments: readonly Attachment[]) {
  const byId = new Map<string, Attachment>();
  const byNumber = new Map<number, Attachment>();
  const readers = new Set<() => void>();

  function put(file: Attachment): boolean {
    const before = byId.get(file.id);
    if (before && JSON.stringify(before) === JSON.stringify(file)) return false;
    byId.set(file.id, file);
    if (file.number !== null) byNumber.set(file.number, file);
    return true;
  }
  /** Adds the files, or what is news of them. Files are never forgotten: a deleted one says so itself. */
  function add(files: readonly Attachment[]) {
    const changed = files.map(put).some(Boolean);
    if (changed) for (const read of [...readers]) read();
  }
  function hear(read: () => void) {
    readers.add(read);
    return () => void readers.delete(read);
  }
  add([...attachments].sort((one, other) => (one.number ?? Infinity) - (other.number ?? Infinity)));
  const all: { byId: ReadonlyMap<string, Attachment>; byNumber: ReadonlyMap<number, Attachment> } = { byId, byNumber };
  return { ...all, add, hear };
}

const none = makeFiling([]);

export const FilingContext = createContext<Filing>(none);

/** One file by number, and its news. */
export function useFile(number: number | null): Attachment | undefined {
  const filing = useContext(FilingContext);
  const find = useCallback(() => (number === null ? undefined : filing.byNumber.get(number)), [filing, number]);
  const [, redraw] = useState(0);
  const shown = find();
  useEffect(() => {
    let known = shown;
    const read = () => {
      const now = find();
      if (now === known) return;
      known = now;
      redraw((count) => count + 1);
    };
    read(); // it may have come since it was drawn
    return filing.hear(read);
  }, [filing, find]);
  return shown;
}

/** The files of these ids, as far as news of them came; for those without any, what is given. */
export function useNews(files: readonly Attachment[]): Attachment[] {
  const filing = useContext(FilingContext);
  const [, redraw] = useState(0);
  const shown = files.map((file) => filing.byId.get(file.id) ?? file);
  useEffect(() => {
    let known = shown;
    return filing.hear(() => {
      const now = files.map((file) => filing.byId.get(file.id) ?? file);
      if (now.every((file, index) => file === known[index])) return;
      known = now;
      redraw((count) => count + 1);
    });
  }, [filing, files]);
  return shown;
}
