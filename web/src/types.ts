// Types of the server's JSON, and of the messages of the UI stream.
import type { UIMessage } from "ai";
import type { Attachment } from "./files/attachment";
import type { Kind } from "./files/kind";

/** Position of a message among its alternative versions. */
export type Branches = { index: number; count: number; others: string[] };

type Metadata = {
  conversation_id?: string;
  run_id?: string;
  model?: string;
  /** Epoch seconds. */
  created?: number;
  branches?: Branches;
  /** Display name of the person who wrote a message of a shared conversation. */
  author?: string;
  status?: "complete" | "incomplete" | "refused" | "error" | "waiting";
  reason?: string | null;
  usage?: Record<string, number>;
  finished?: number;
};

/** A phrase that refers to files. If it is ambiguous, `numbers` is empty and `readings` are the candidates. Numbers that
 *  no file has are `missing`. */
export type Reference = { words: string; numbers: number[]; readings: number[][]; missing?: number[] };

export type Data = {
  attachment: Attachment;
  reference: Reference;
  receipt: Record<string, unknown>;
  step: Record<string, unknown>;
  progress: { tool_call_id: string; done: number | null; total: number | null; note: string | null; preview?: string };
  retry: { reason: string; seconds: number; files?: number[] };
  worker: { state: "lost" | "found" };
};

export type Message = UIMessage<Metadata, Data>;
export type Part = Message["parts"][number];

/** A conversation in the list. */
export type Listed = {
  id: string;
  title: string | null;
  /** Epoch seconds. */
  created: number;
  changed: number;
  messages: number;
  files: number;
  running: boolean;
};

/** A conversation that another person shares with the user. */
export type Shared = Listed & { right: "writer" | "reader"; shared_by: string };

export type Conversation = {
  id: string;
  alias: string | null;
  title: string | null;
  /** Epoch seconds. */
  created: number;
  changed: number;
  model: string | null;
  right: "owner" | "writer" | "reader";
  /** Display name of its owner, if that is another person. */
  shared_by: string | null;
  running: boolean;
  waiting: boolean;
  /** Whether there are earlier messages than these. */
  earlier: boolean;
  messages: Message[];
  attachments: Attachment[];
};

export type Sees = "native" | "relocated" | "converted" | "noted";

/** How a user's file is sent: unchanged, converted, as text only, or not at all. */
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
export type Settings = { model: string | null; instructions: string; theme: Theme; language: string | null };
export type Example = { name: string; title: string; text: string; files: string[] };
