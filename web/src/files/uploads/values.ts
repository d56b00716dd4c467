// The state of one upload, and checks before it starts.
import { sizeOf, t } from "../../language";
import type { Attachment } from "../attachment";

export type From = "drop" | "paste" | "picker" | "camera";
export type Limits = { max_file_bytes: number; max_message_files: number };

/** waiting: queued; later: for the next message; failed: may be retried; refused: not accepted as it is. */
type UploadState = "waiting" | "later" | "sending" | "ready" | "failed" | "refused";

/** `done` counts bytes; `preview` is the URL of a thumbnail; `again`: a retry may help. */
export type Upload = {
  key: string;
  /** Assigned by the server after the upload. */
  id: string | null;
  name: string;
  /** Null as long as it is unknown. */
  size: number | null;
  state: UploadState;
  done: number;
  preview: string | null;
  problem: string | null;
  again: boolean;
  attachment: Attachment | null;
};

export const isOpen = (upload: Upload) => upload.state === "waiting" || upload.state === "sending";

/** Why a file can't be sent, or null. */
export function refuse(file: { size: number | null }, limits: Limits): string | null {
  if (file.size === 0) return t("uploads.empty");
  if ((file.size ?? 0) <= limits.max_file_bytes) return null;
  return t("uploads.tooLarge", { size: sizeOf(limits.max_file_bytes) });
}

/** Images from the clipboard all have the same name, so they are numbered. */
export function nameOf(file: File, from: From, pasted: number): string {
  const plain = /^(image|unknown|blob)?(\.\w+)?$/i.test(file.name);
  if (from !== "paste" || !plain) return file.name || "file";
  const ending = file.type.startsWith("image/") ? `.${file.type.slice(6).replace("jpeg", "jpg").replace(/\+.*/, "")}` : "";
  return `pasted-${pasted}${ending}`;
}
