// The message that is being sent. Until the server has it, it can be returned to the composer.
import { putBack } from "../../composer/drafts";
import type { Message } from "../../types";
import { filesIn, textOf } from "./mergeMessages";

/** `edits`: id of the message that it replaces. */
type Unsent = Message & { edits?: string };

export type Outbox = ReturnType<typeof makeOutbox>;

export function makeOutbox() {
  let held: Unsent | null = null;
  return {
    held: () => held,
    hold(message: Unsent) {
      held = message;
    },
    /** Call once the server has the message. */
    free() {
      held = null;
    },
    /** Returns the message to the conversation's composer. The result is that message, if any. */
    giveBack(conversation: string | null): Unsent | null {
      const back = held;
      held = null;
      if (back) putBack(conversation, textOf(back), back.edits ? [] : filesIn(back));
      return back;
    },
  };
}
