// Loads a conversation from the server: its newest messages, and earlier ones on demand.
import { api } from "../../api";
import type { Conversation } from "../../types";

/** Number of messages at first; more are loaded once the user looks for earlier ones. */
export const NEWEST = 100;
/** More than any conversation has. */
export const ALL = 1_000_000;

export const addressOf = (id: string) => `/api/conversations/${encodeURIComponent(id)}`;

/** At least the newest messages, beginning with a question. */
export function loadNewest(id: string, newest: number, signal: AbortSignal): Promise<Conversation> {
  return api.get<Conversation>(`${addressOf(id)}?newest=${newest}`, { signal });
}
