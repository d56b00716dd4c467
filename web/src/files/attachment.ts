// A file of a conversation as the server tells of it, and the words in which everybody speaks of one.
import type { Kind } from "./kind";

type Brought = "user" | "tool" | "assistant" | "url" | "mcp";
type State = "pending" | "ready" | "quarantined" | "deleted";

/** `number` is null until its message is sent; `pixels` are width and height; `url` and `thumbnail` are our own. */
export type Attachment = {
  id: string;
  number: number | null;
  name: string;
  kind: Kind;
  media_type: string;
  /** Null where nothing proves it. */
  size: number | null;
  pixels: [number, number] | null;
  pages: number | null;
  seconds: number | null;
  origin: { by: Brought; tool?: string | null; call_id?: string | null };
  date: string;
  state: State;
  problem: string | null;
  corrected: string | null;
  description: string | null;
  url: string;
  thumbnail: string | null;
  conversation_id: string | null;
};

const OFFICE = "application/vnd.openxmlformats-officedocument.";

/** What people call a type, where its IANA name is no help. */
const NAMES = new Map([
  [`${OFFICE}wordprocessingml.document`, "Word document"],
  [`${OFFICE}spreadsheetml.sheet`, "Excel workbook"],
  [`${OFFICE}presentationml.presentation`, "PowerPoint presentation"],
  ["application/vnd.oasis.opendocument.text", "OpenDocument text"],
  ["application/vnd.oasis.opendocument.spreadsheet", "OpenDocument spreadsheet"],
  ["application/vnd.oasis.opendocument.presentation", "OpenDocument presentation"],
  ["application/octet-stream", "unknown type"],
  ["application/zip", "ZIP archive"],
  ["application/pdf", "PDF"],
]);

export const typeOf = (mediaType: string) => NAMES.get(mediaType) ?? mediaType;

/** Types that browsers draw and the server hands out to be drawn; of all others only the thumbnail is shown. */
const DRAWN = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"]);

export const isDrawn = (mediaType: string) => DRAWN.has(mediaType);

/** Whether its bytes are here: neither held back nor deleted, and without a problem. */
export const isThere = (file: Attachment) => (file.state === "ready" || file.state === "pending") && !file.problem;

/** Whether it has bytes that can be deleted from its conversation; an upload is taken back where it is listed. */
export const isDeletable = (file: Attachment) => file.number !== null && file.state !== "deleted";

/** A file as everybody says it: "image 5", "document 3"; "file 7" where the kind is unknown. */
export function spoken(kind: string, number: number): string {
  return `${kind === "other" ? "file" : kind} ${number}`;
}

/** The same for a file that may have no number yet: then its name. */
export function labelOf(file: Attachment): string {
  return file.number === null ? file.name : spoken(file.kind, file.number);
}

/** A size as people say it: 900 bytes, 12 kB, 2.1 MB; nothing where it isn't known. */
export function sizeOf(bytes: number | null): string {
  if (bytes === null) return "";
  if (bytes < 1000) return bytes === 1 ? "1 byte" : `${bytes} bytes`;
  if (bytes < 999_500) return `${Math.round(bytes / 1000)} kB`;
  if (bytes < 999_950_000) return `${(bytes / 1_000_000).toFixed(1)} MB`;
  return `${(bytes / 1_000_000_000).toFixed(1)} GB`;
}

/** Seconds as a clock has them: 0:07, 3:20, 1:02:05. */
function clockOf(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  const rest = String(whole % 60).padStart(2, "0");
  return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}

/** A moment of a film or sound; of short ones exactly enough to tell them apart. */
export const momentOf = (seconds: number) => (seconds < 10 ? `${seconds.toFixed(1)} s` : clockOf(seconds));

/** Who brought a file, as the person in the chat says it. */
export function broughtBy(origin: Attachment["origin"]): string {
  switch (origin.by) {
    case "user":
      return "you";
    case "assistant":
      return "the model";
    case "url":
      return "from a URL";
    case "tool":
    case "mcp":
      return origin.tool ? `tool ${origin.tool}` : "a tool";
  }
}

/** What it measures: pixels, pages or length, as far as they are known. */
export function measureOf(file: Attachment): string | null {
  if (file.pixels && (file.kind === "image" || file.kind === "video")) return `${file.pixels[0]} × ${file.pixels[1]}`;
  if (file.pages !== null) return file.pages === 1 ? "1 page" : `${file.pages} pages`;
  return file.seconds === null ? null : clockOf(file.seconds);
}

/** The address of something that the server makes of a file: its text, a page, a conversion. */
export function partOf(file: Attachment, part: string): string {
  return `/api/attachments/${encodeURIComponent(file.id)}/${part}`;
}

/** An address of our own server; anything else is left out, whoever wrote it. */
export function ownAddress(url: string | null | undefined): string | undefined {
  return url?.startsWith("/api/attachments/") ? url : undefined;
}

/** The address under which a browser saves it instead of showing it. */
export function downloadOf(file: Attachment): string {
  const url = ownAddress(file.url) ?? partOf(file, "content");
  return `${url}${url.includes("?") ? "&" : "?"}download=1`;
}
