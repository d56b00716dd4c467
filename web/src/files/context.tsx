// Context for file views: the conversation's files and the actions on them.
import { createContext, type ComponentChildren } from "preact";
import { useContext, useMemo } from "preact/hooks";
import type { Attachment } from "./attachment";

export type Files = {
  /** By number. */
  files: ReadonlyMap<number, Attachment>;
  /** Inserts "image 5" at the composer's cursor; null if the user can't write here. */
  insertReference: ((text: string) => void) | null;
  /** Opens the dialog that deletes a file; null if the user may not delete files. */
  remove: ((file: Attachment) => void) | null;
};

const Context = createContext<Files>({ files: new Map(), insertReference: null, remove: null });

export function FilesProvider(p: Files & { children?: ComponentChildren }) {
  const { files, insertReference, remove } = p;
  const value = useMemo(() => ({ files, insertReference, remove }), [files, insertReference, remove]);
  return <Context.Provider value={value}>{p.children}</Context.Provider>;
}

export const useFiles = () => useContext(Context);
