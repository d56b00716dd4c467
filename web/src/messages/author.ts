// Who wrote a message of a shared conversation.
import type { Message } from "../types";

/** The display name of the author; null for the user. Messages from before a conversation was shared are its owner's. */
export function authorOf(message: Message, owner: string | null, me: string | null): string | null {
  const { author, created } = message.metadata ?? {};
  const isStored = created !== undefined;
  const writer = author ?? (isStored ? owner : null);
  return writer === me ? null : writer;
}
