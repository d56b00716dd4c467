// The message that is on its way: until the server has it, it can go back to where it was written.
import { putBack } from "../../composer/drafts";
import type { Message } from "../../types";
import { filesIn, textOf } from "./mergeMessages";

/** `edits` is the id of the message that it replaces. */
type Unsent = Message & { edits?: string };

export type Outbox = ReturnType<typeof makeOutbox>;

export function makeOutbox() {
  let held: Unsent | null = null;
  return {
    held: () => held,
    hold(message: Unsent) {
      held = message;
    },
    /** The server has it. */
    free() {
      held = null;
    },
    /** Gives it back to the box of a conversation; tells which it was. */
    giveBack(conversation: string | null): Unsent | null {
      const back = held;
      held = null;
      if (back) putBack(conversation, textOf(back), back.edits ? [] : filesIn(back));
      return back;
    },
  };
}
