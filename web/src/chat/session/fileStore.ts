// The files of one conversation. Components subscribe to single files, so a new file rerenders nothing else.
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
  /** Adds or updates files. Files are never removed: a deleted file has the state "deleted". */
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

/** Subscribes to one file by number. */
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
    read(); // it may have changed between render and effect
    return filing.hear(read);
  }, [filing, find]);
  return shown;
}

/** The latest version of each file; a file that the store doesn't have is returned unchanged. */
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
