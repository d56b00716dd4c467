// The message that is being sent. Until the server has it, it can be returned to the composer.
import { restoreDraft } from "../../composer/drafts";
import type { Message } from "../../types";
import { filesIn, textOf } from "./mergeMessages";

/** `edits`: id of the message that it replaces. */
type Unsent = Message & { edits?: string };

export type Outbox = ReturnType<typeof makeOutbox>;

export function makeOutbox() {
  let current: Unsent | null = null;
  return {
    current: () => current,
    set(message: Unsent) {
      current = message;
    },
    /** Call once the server has the message. */
    clear() {
      current = null;
    },
    /** Returns the message to the conversation's composer. The result is that message, if any. */
    returnToComposer(conversation: string | null): Unsent | null {
      const back = current;
      current = null;
      if (back) restoreDraft(conversation, textOf(back), back.edits ? [] : filesIn(back));
      return back;
    },
  };
}
