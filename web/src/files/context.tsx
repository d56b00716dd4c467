// Context for file views: the conversation's files and the actions on them.
import { createContext, type ComponentChildren } from "preact";
import { useContext, useMemo } from "preact/hooks";
import type { Attachment } from "./attachment";

export type Files = {
  /** By number. */
  files: ReadonlyMap<number, Attachment>;
  /** Inserts "image 5" at the composer's cursor; null if the user can't write here. */
  insertReference: ((text: string) => void) | null;
  /** Attaches a new file to the next message; null if the user can't write here. */
  attach: ((file: File) => void) | null;
  /** Opens the dialog that deletes a file; null if the user may not delete files. */
  remove: ((file: Attachment) => void) | null;
};

const Context = createContext<Files>({ files: new Map(), insertReference: null, attach: null, remove: null });

export function FilesProvider(p: Files & { children?: ComponentChildren }) {
  const { files, insertReference, attach, remove } = p;
  const value = useMemo(() => ({ files, insertReference, attach, remove }), [files, insertReference, attach, remove]);
  return <Context.Provider value={value}>{p.children}</Context.Provider>;
}

export const useFiles = () => useContext(Context);
