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
  /** Text that only people see. */
  "user-text": { text: string; tool_call_id?: string };
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

/** Where a search found a conversation: in its title, in a message, in files. */
export type Match = {
  title: boolean;
  message: string | null;
  /** The message's id in the conversation, if it has a question. */
  message_id: string | null;
  /** At most 4. */
  files: Attachment[];
  more_files: number;
};

/** One of the user's own conversations; `match` is null without a search. */
export type Own = Listed & { pinned: boolean; archived: boolean; tags: string[]; match: Match | null };

/** A conversation that another person shares with the user. */
export type Shared = Listed & { right: "writer" | "reader"; shared_by: string };

/** Settings of one conversation; null or "" leaves one to the user's and the server's. `tools` are those that are on. */
/** What answers do once the conversation is longer than the model's context. */
export type OnFull = "error" | "drop_oldest" | "summarize";

export type OwnSettings = {
  model: string | null;
  instructions: string;
  temperature: number | null;
  tools: string[] | null;
  /** Missing: as the server does. */
  on_full?: OnFull;
};

export type Conversation = {
  id: string;
  alias: string | null;
  title: string | null;
  /** Epoch seconds. */
  created: number;
  changed: number;
  model: string | null;
  /** What its owner has set for it alone; null for others, and if there is nothing. */
  settings: OwnSettings | null;
  right: "owner" | "writer" | "reader";
  /** Display name of its owner, if that is another person. */
  shared_by: string | null;
  running: boolean;
  waiting: boolean;
  /** The number of the user's messages that wait to be sent. */
  pending: number;
  /** Whether there are earlier messages than these. */
  earlier: boolean;
  messages: Message[];
  attachments: Attachment[];
};

export type Sees = "native" | "relocated" | "converted" | "noted";

/** How a user's file is sent: unchanged, converted, as text only, or not at all. */
type Takes = "native" | "converted" | "words" | "refused" | "for_tools";

export type Model = {
  id: string;
  provider: string;
  name: string;
  available: boolean;
  why: string | null;
  sees: Partial<Record<"image" | "document" | "audio" | "video", Sees>>;
  takes: Partial<Record<Kind, Takes>>;
  /** Its window in tokens, and when it was released, such as 2026-11-27; missing or null if unknown. */
  context?: number | null;
  released?: string | null;
};

export type Theme = "system" | "light" | "dark";
export type Settings = {
  model: string | null;
  instructions: string;
  theme: Theme;
  language: string | null;
  /** Whether models give new conversations their titles. */
  titles: boolean;
  /** Ids of models. */
  favourites: string[];
};
/** What a change of the settings may say: also a model to add to the favourites, or to remove from them. */
export type SettingsChange = Partial<Settings> & { star?: string; unstar?: string };
/** `models`: two that are asked, to be compared; empty for the chosen one. */
export type Example = { name: string; title: string; text: string; files: string[]; models: string[] };
