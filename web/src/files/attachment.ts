// A file of a conversation as sent by the server, and its labels.
import { at } from "../prefix";
import type { Kind } from "./kind";

type Brought = "user" | "tool" | "assistant" | "provider" | "url" | "mcp";
type State = "pending" | "ready" | "quarantined" | "deleted";

/** `number` is null until its message is sent; `pixels` is width and height; `url` and `thumbnail` are same-origin. */
export type Attachment = {
  id: string;
  number: number | null;
  name: string;
  kind: Kind;
  media_type: string;
  /** Null if unknown. */
  size: number | null;
  pixels: [number, number] | null;
  pages: number | null;
  seconds: number | null;
  origin: { by: Brought; tool?: string | null; call_id?: string | null; shared_by?: string };
  date: string;
  state: State;
  problem: string | null;
  corrected: string | null;
  /** "user": kept from the model; "assistant": only for the model, so the answer doesn't show it. */
  audience: "both" | "user" | "assistant";
  description: string | null;
  url: string;
  thumbnail: string | null;
  conversation_id: string | null;
};

const OFFICE = "application/vnd.openxmlformats-officedocument.";

/** Readable names of media types. */
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

/** Types that browsers display and the server serves inline. For all others only the thumbnail is shown. */
const DRAWN = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"]);

export const isDrawn = (mediaType: string) => DRAWN.has(mediaType);

/** Whether its bytes are available: neither withheld nor deleted, and without a problem. */
export const isThere = (file: Attachment) => (file.state === "ready" || file.state === "pending") && !file.problem;

/** Whether it can be deleted from its conversation. An unsent upload is removed in the upload tray instead. */
export const isDeletable = (file: Attachment) => file.number !== null && file.state !== "deleted";

/** A reference such as "image 5" or "document 3"; "file 7" if the kind is unknown. */
export function referenceText(kind: string, number: number): string {
  return `${kind === "other" ? "file" : kind} ${number}`;
}

/** Like `spoken`, but the name for a file without a number. */
export function labelOf(file: Attachment): string {
  return file.number === null ? file.name : referenceText(file.kind, file.number);
}

/** A readable size: 900 bytes, 12 kB, 2.1 MB; empty if unknown. */
export function sizeOf(bytes: number | null): string {
  if (bytes === null) return "";
  if (bytes < 1000) return bytes === 1 ? "1 byte" : `${bytes} bytes`;
  if (bytes < 999_500) return `${Math.round(bytes / 1000)} kB`;
  if (bytes < 999_950_000) return `${(bytes / 1_000_000).toFixed(1)} MB`;
  return `${(bytes / 1_000_000_000).toFixed(1)} GB`;
}

/** Seconds as 0:07, 3:20 or 1:02:05. */
function clockOf(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  const rest = String(whole % 60).padStart(2, "0");
  return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}

/** A time in video or audio; below ten seconds with one decimal. */
export const momentOf = (seconds: number) => (seconds < 10 ? `${seconds.toFixed(1)} s` : clockOf(seconds));

/** Names of tools that run code. */
const CODE_TOOLS = /code|bash|python|shell/i;

/** Origin of a file, addressed to the user. */
export function originOf(origin: Attachment["origin"]): string {
  switch (origin.by) {
    case "user":
      return origin.shared_by ? `from a conversation shared by ${origin.shared_by}` : "you";
    case "assistant":
      return "the model";
    case "provider":
      return `made by ${origin.tool && !CODE_TOOLS.test(origin.tool) ? origin.tool : "code"} that the provider ran`;
    case "url":
      return "from a URL";
    case "tool":
    case "mcp":
      return origin.tool ? `tool ${origin.tool}` : "a tool";
  }
}

/** Pixels, pages or duration, if known. */
export function measureOf(file: Attachment): string | null {
  if (file.pixels && (file.kind === "image" || file.kind === "video")) return `${file.pixels[0]} × ${file.pixels[1]}`;
  if (file.pages !== null) return file.pages === 1 ? "1 page" : `${file.pages} pages`;
  return file.seconds === null ? null : clockOf(file.seconds);
}

/** URL of something derived from a file: its text, a page, a conversion. */
export function partOf(file: Attachment, part: string): string {
  return at(`/api/attachments/${encodeURIComponent(file.id)}/${part}`);
}

/** The URL if it is same-origin, else undefined. */
export function ownAddress(url: string | null | undefined): string | undefined {
  const path = url?.startsWith(`${location.origin}/`) ? url.slice(location.origin.length) : url;
  return path?.startsWith(at("/api/attachments/")) ? path : undefined;
}

/** URL that makes the browser download the file instead of displaying it. */
export function downloadOf(file: Attachment): string {
  const url = ownAddress(file.url) ?? partOf(file, "content");
  return `${url}${url.includes("?") ? "&" : "?"}download=1`;
}
