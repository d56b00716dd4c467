// The files of one conversation. Components subscribe to single files, so a new file rerenders nothing else.
import { createContext } from "preact";
import { useCallback, useContext, useEffect, useState } from "preact/hooks";
import type { Attachment } from "../../files";

export type FileStore = ReturnType<typeof makeFileStore>;

export function makeFileStore(attachments: readonly Attachment[]) {
  const byId = new Map<string, Attachment>();
  const byNumber = new Map<number, Attachment>();
  const listeners = new Set<() => void>();

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
    if (changed) for (const read of [...listeners]) read();
  }
  function subscribe(read: () => void) {
    listeners.add(read);
    return () => void listeners.delete(read);
  }
  add([...attachments].sort((one, other) => (one.number ?? Infinity) - (other.number ?? Infinity)));
  const all: { byId: ReadonlyMap<string, Attachment>; byNumber: ReadonlyMap<number, Attachment> } = { byId, byNumber };
  return { ...all, add, subscribe };
}

const none = makeFileStore([]);

export const FileStoreContext = createContext<FileStore>(none);

/** Subscribes to one file by number. */
export function useFile(number: number | null): Attachment | undefined {
  const fileStore = useContext(FileStoreContext);
  const find = useCallback(() => (number === null ? undefined : fileStore.byNumber.get(number)), [fileStore, number]);
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
    return fileStore.subscribe(read);
  }, [fileStore, find]);
  return shown;
}

/** The latest version of each file; a file that the store doesn't have is returned unchanged. */
export function useLatestFiles(files: readonly Attachment[]): Attachment[] {
  const fileStore = useContext(FileStoreContext);
  const [, redraw] = useState(0);
  const shown = files.map((file) => fileStore.byId.get(file.id) ?? file);
  useEffect(() => {
    let known = shown;
    return fileStore.subscribe(() => {
      const now = files.map((file) => fileStore.byId.get(file.id) ?? file);
      if (now.every((file, index) => file === known[index])) return;
      known = now;
      redraw((count) => count + 1);
    });
  }, [fileStore, files]);
  return shown;
}
