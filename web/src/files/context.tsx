// What the files on the page know of their conversation: the other files, and what may be done with one.
import { createContext, type ComponentChildren } from "preact";
import { useContext, useMemo } from "preact/hooks";
import type { Attachment } from "./attachment";

export type Files = {
  /** The conversation's files by number. */
  files: ReadonlyMap<number, Attachment>;
  /** Writes "image 5" at the cursor of the message that is being written; null where none can be. */
  insertReference: ((text: string) => void) | null;
  /** Asks whether a file is to be deleted; null where that isn't this person's to say. */
  remove: ((file: Attachment) => void) | null;
};

const Context = createContext<Files>({ files: new Map(), insertReference: null, remove: null });

export function FilesProvider(p: Files & { children?: ComponentChildren }) {
  const { files, insertReference, remove } = p;
  const value = useMemo(() => ({ files, insertReference, remove }), [files, insertReference, remove]);
  return <Context.Provider value={value}>{p.children}</Context.Provider>;
}

export const useFiles = () => useContext(Context);
