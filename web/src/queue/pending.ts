// The routes of messages that wait to be sent.
import { api } from "../api";
import type { Attachment } from "../files";

export type Pending = {
  id: string;
  revision: number;
  text: string;
  files: Attachment[];
  /** Whether the server is sending it, so that it can't be changed. */
  sending: boolean;
  /** Why it couldn't be sent. */
  problem: string | null;
};

export type Queue = {
  pending: Pending[];
  /** How the last answer ended, if the messages wait for a person because of that. */
  hold: "waiting" | "incomplete" | "error" | "refused" | null;
};

type New = { conversation_id: string; message_id: string; text: string; files: string[]; model: string | null };
type Change = { text?: string; files?: string[]; place?: number };

const addressOf = (message: Pending) => `/api/pending/${encodeURIComponent(message.id)}`;

export const loadQueue = (conversation: string) => api.get<Queue>(`/api/conversations/${encodeURIComponent(conversation)}/pending`);
export const add = (message: New) => api.post<Pending>("/api/pending", message);
export const change = (message: Pending, to: Change) => api.patch<Pending>(addressOf(message), { revision: message.revision, ...to });
export const remove = (message: Pending) => api.del(`${addressOf(message)}?revision=${message.revision}`);
export const sendNow = (message: Pending) => api.post<void>(`${addressOf(message)}/send`, { revision: message.revision });
