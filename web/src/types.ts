// What the server tells of conversations, models and settings, and the messages of the UI stream.
import type { UIMessage } from "ai";
import type { Attachment } from "./files/attachment";
import type { Kind } from "./files/kind";

/** Where a message stands among others that were written in its place. */
export type Branches = { index: number; count: number; others: string[] };

type Metadata = {
  conversation_id?: string;
  run_id?: string;
  model?: string;
  /** Times are epoch seconds. */
  created?: number;
  branches?: Branches;
  status?: "complete" | "incomplete" | "refused" | "error" | "waiting";
  reason?: string | null;
  usage?: Record<string, number>;
  finished?: number;
};

/** What a person's words point at; where that isn't clear `numbers` is empty and `readings` are what it may be. */
export type Reference = { words: string; numbers: number[]; readings: number[][] };

export type Data = {
  attachment: Attachment;
  reference: Reference;
  receipt: Record<string, unknown>;
  step: Record<string, unknown>;
  progress: { tool_call_id: string; done: number | null; total: number | null; note: string | null };
  retry: { reason: string; seconds: number; files?: number[] };
};

export type Message = UIMessage<Metadata, Data>;
export type Part = Message["parts"][number];

/** A conversation in the list. */
export type Listed = {
  id: string;
  title: string | null;
  /** Times are epoch seconds. */
  created: number;
  changed: number;
  messages: number;
  files: number;
  running: boolean;
};

export type Conversation = {
  id: string;
  alias: string | null;
  title: string | null;
  /** Times are epoch seconds. */
  created: number;
  changed: number;
  model: string | null;
  right: "owner" | "writer" | "reader";
  running: boolean;
  waiting: boolean;
  messages: Message[];
  attachments: Attachment[];
};

export type Sees = "native" | "relocated" | "converted" | "noted";

/** What becomes of a file that a person sends: as it is, in another form, its words alone, or not at all. */
type Takes = "native" | "converted" | "words" | "refused";

export type Model = {
  id: string;
  provider: string;
  name: string;
  available: boolean;
  why: string | null;
  sees: Partial<Record<"image" | "document" | "audio" | "video", Sees>>;
  takes: Partial<Record<Kind, Takes>>;
};

export type Theme = "system" | "light" | "dark";
export type Settings = { model: string | null; instructions: string; theme: Theme };
export type Example = { name: string; title: string; text: string; files: string[] };
