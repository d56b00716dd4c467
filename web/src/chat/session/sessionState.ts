// What a conversation's view knows besides its messages, and what it brings when it is opened.
import type { Conversation } from "../../types";
import { type Live, quiet } from "./liveStatus";

type TalkState = {
  id: string | null;
  about: Conversation | null;
  live: Live;
  /** The server or the network is away; it is being looked for. */
  lost: boolean;
  /** What went wrong, in words for the person; null when all is well. */
  problem: string | null;
  /** What to do about it: ask once more, or send again what is back in the box. Null: the words say it. */
  remedy: "again" | "back" | null;
};

/** Nothing is wrong. */
export const fine = { live: quiet, lost: false, problem: null, remedy: null };

/** What is known now, how it changes, and whoever wants to hear of it. */
export function makeState(first: TalkState) {
  let state = first;
  const watchers = new Set<() => void>();
  return {
    now: () => state,
    set(change: Partial<TalkState>) {
      state = { ...state, ...change };
      for (const watch of [...watchers]) watch();
    },
    watch(watch: () => void) {
      watchers.add(watch);
      return () => void watchers.delete(watch);
    },
  };
}

export type Given = {
  /** What the client calls it until the server names it. */
  chatId: string;
  stored: Conversation | null;
  model: () => string | null;
  /** The server named a new conversation. */
  onNamed: (id: string) => void;
  /** A question is asked, or asked again, here. */
  onAsked: () => void;
};
