// What the files on the page know of their conversation: the other files, and where a reference is written.
import { createContext, type ComponentChildren } from "preact";
import { useContext, useMemo } from "preact/hooks";
import type { Attachment } from "./attachment";

export type Files = {
  /** The conversation's files by number. */
  files: ReadonlyMap<number, Attachment>;
  /** Writes "image 5" at the cursor of the message that is being written. */
  insertReference(text: string): void;
};

const Context = createContext<Files>({ files: new Map(), insertReference: () => {} });

export function FilesProvider(p: Files & { children?: ComponentChildren }) {
  const { files, insertReference } = p;
  const value = useMemo(() => ({ files, insertReference }), [files, insertReference]);
  return <Context.Provider value={value}>{p.children}</Context.Provider>;
}

export const useFiles = () => useContext(Context);
