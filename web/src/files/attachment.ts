// A file of a conversation as sent by the server, and its labels.
import { clockOf, numberOf, type PlainKey, t } from "../language";
import { at } from "../prefix";
import type { Kind } from "./kind";

type Brought = "user" | "tool" | "assistant" | "provider" | "url" | "mcp";
type State = "pending" | "ready" | "missing" | "quarantined" | "deleted";

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
const NAMES = new Map<string, PlainKey>([
  [`${OFFICE}wordprocessingml.document`, "files.word"],
  [`${OFFICE}spreadsheetml.sheet`, "files.excel"],
  [`${OFFICE}presentationml.presentation`, "files.powerPoint"],
  ["application/vnd.oasis.opendocument.text", "files.openText"],
  ["application/vnd.oasis.opendocument.spreadsheet", "files.openSpreadsheet"],
  ["application/vnd.oasis.opendocument.presentation", "files.openPresentation"],
  ["application/x-ipynb+json", "files.notebook"],
  ["application/octet-stream", "files.unknownType"],
  ["application/zip", "files.zip"],
  ["application/pdf", "files.pdf"],
]);

/** Types that are called like the ending of their names: "PNG". */
const ENDINGS = /^(?:image|audio|video|text|application)\/(?:x-)?(png|jpeg|gif|webp|avif|tiff|svg|wav|flac|ogg|mp4|webm|csv|json)(?:\+xml)?$/;

export function typeOf(mediaType: string): string {
  const name = NAMES.get(mediaType);
  return name ? t(name) : (ENDINGS.exec(mediaType)?.[1]?.toUpperCase() ?? mediaType);
}

/** Types that browsers display and the server serves inline. For all others only the thumbnail is shown. */
const DRAWN = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"]);

export const isDrawn = (mediaType: string) => DRAWN.has(mediaType);

/** Whether its bytes are available: neither withheld nor deleted, and without a problem. */
export const isThere = (file: Attachment) => (file.state === "ready" || file.state === "pending") && !file.problem;

/** Whether it can be deleted from its conversation. An unsent upload is removed in the upload tray instead. */
export const isDeletable = (file: Attachment) => file.number !== null && file.state !== "deleted";

/** A reference such as "image 5", in the server's language: it reads no other, and models get files with such labels. */
export function referenceText(kind: string, number: number): string {
  return `${kind === "other" ? "file" : kind} ${number}`;
}

/** The label of a file's number in the language of the page: "image 5", or "file 7" if the kind is unknown. */
export const numberedOf = (kind: string, number: number) => t("files.label", { kind, number });

/** The label of a file; its name if it has no number. */
export function labelOf(file: Attachment): string {
  return file.number === null ? file.name : numberedOf(file.kind, file.number);
}

/** Label and name: "image 5: chart.png". */
export function titleOf(file: Attachment): string {
  return file.number === null ? file.name : t("files.named", { label: labelOf(file), name: file.name });
}

const TENTHS = { minimumFractionDigits: 1, maximumFractionDigits: 1 };

/** A time in video or audio, or its length; below ten seconds with one decimal. */
export function momentOf(seconds: number): string {
  return seconds < 10 ? t("files.seconds", { seconds: numberOf(seconds, TENTHS) }) : clockOf(seconds);
}

/** Names of tools that run code. */
const CODE_TOOLS = /code|bash|python|shell/i;

/** Origin of a file, addressed to the user. */
export function originOf(origin: Attachment["origin"]): string {
  switch (origin.by) {
    case "user":
      return origin.shared_by ? t("files.fromShared", { name: origin.shared_by }) : t("files.byYou");
    case "assistant":
      return t("files.byModel");
    case "provider":
      return origin.tool && !CODE_TOOLS.test(origin.tool) ? t("files.byHosted", { tool: origin.tool }) : t("files.byHostedCode");
    case "url":
      return t("files.fromUrl");
    case "tool":
    case "mcp":
      return origin.tool ? t("files.byTool", { tool: origin.tool }) : t("files.bySomeTool");
  }
}

/** Pixels, pages or duration, if known. */
export function measureOf(file: Attachment): string | null {
  if (file.pixels && (file.kind === "image" || file.kind === "video")) return `${file.pixels[0]} × ${file.pixels[1]}`;
  if (file.pages !== null) return t("files.pages", { count: file.pages });
  return file.seconds === null ? null : momentOf(file.seconds);
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
