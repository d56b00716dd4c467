// One file on its way to the server, and what can be said of it before a byte is sent.
import { sizeOf, type Attachment } from "../attachment";

export type From = "drop" | "paste" | "picker" | "camera";
export type Limits = { max_file_bytes: number; max_message_files: number };

/** waiting: for its turn; later: for the next message; failed: may be tried again; refused: won't be taken as it is. */
type UploadState = "waiting" | "later" | "sending" | "ready" | "failed" | "refused";

/** `done` counts bytes; `preview` is the address of a small picture; `again` says that trying again can help. */
export type Upload = {
  key: string;
  /** What the server calls it, once it has it. */
  id: string | null;
  name: string;
  size: number;
  state: UploadState;
  done: number;
  preview: string | null;
  problem: string | null;
  again: boolean;
  attachment: Attachment | null;
};

export const isOpen = (upload: Upload) => upload.state === "waiting" || upload.state === "sending";

/** Why a file can't be sent at all; null where it can. */
export function refuse(file: { size: number }, limits: Limits | null): string | null {
  if (!limits || file.size <= limits.max_file_bytes) return null;
  return `It is larger than ${sizeOf(limits.max_file_bytes)}, the most that one file may have. Send a smaller one.`;
}

/** Pictures from the clipboard all have the same name: they get one that tells them apart. */
export function nameOf(file: File, from: From, pasted: number): string {
  const plain = /^(image|unknown|blob)?(\.\w+)?$/i.test(file.name);
  if (from !== "paste" || !plain) return file.name || "file";
  const ending = file.type.startsWith("image/") ? `.${file.type.slice(6).replace("jpeg", "jpg").replace(/\+.*/, "")}` : "";
  return `pasted-${pasted}${ending}`;
}
