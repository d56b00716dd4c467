// What a conversation's view knows besides its messages, and what it brings when it is opened.
import type { Attachment } from "../files";
import type { Conversation } from "../types";
import { type Live, quiet } from "./live";

export type TalkState = {
  id: string | null;
  about: Conversation | null;
  live: Live;
  /** The server or the network is away; it is being looked for. */
  lost: boolean;
  /** What went wrong, in words for the person; null when all is well. */
  problem: string | null;
  /** Whether asking once more is the thing to do about it. */
  again: boolean;
};

/** Nothing is wrong. */
export const fine = { live: quiet, lost: false, problem: null, again: false };

export type Given = {
  /** What the client calls it until the server names it. */
  chatId: string;
  stored: Conversation | null;
  model: () => string | null;
  /** The server named a new conversation. */
  onNamed: (id: string) => void;
  /** A message that wasn't taken goes back to where it was written. */
  onReturned: (text: string, attachments: Attachment[]) => void;
};
