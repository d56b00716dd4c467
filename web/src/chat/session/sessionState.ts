// State of a conversation other than its messages, and what a view passes in when it opens one.
import type { Conversation, OwnSettings } from "../../types";
import { type Live, idle } from "./liveStatus";

type SessionState = {
  id: string | null;
  about: Conversation | null;
  /** Whether the server has earlier messages than those that are shown, and whether they are being loaded. */
  earlier: boolean;
  loadingEarlier: boolean;
  live: Live;
  /** The server or the network is unreachable; reconnecting. */
  lost: boolean;
  /** Error text for the user, or null. */
  problem: string | null;
  /** Whether the provider's key is missing, which the settings take. */
  needsKey: boolean;
  /** "again": regenerate; "back": resend what was returned to the composer; null: the error text says what to do. */
  remedy: "again" | "back" | null;
};

/** The state without errors. */
export const noErrors = { live: idle, loadingEarlier: false, lost: false, problem: null, needsKey: false, remedy: null };

/** The current state with its subscribers. */
export function makeState(first: SessionState) {
  let state = first;
  const watchers = new Set<() => void>();
  return {
    now: () => state,
    set(change: Partial<SessionState>) {
      state = { ...state, ...change };
      for (const watch of [...watchers]) watch();
    },
    watch(watch: () => void) {
      watchers.add(watch);
      return () => void watchers.delete(watch);
    },
  };
}

/** The selected model, and the settings of a new conversation. */
export type Wishes = { model: string | null; settings?: OwnSettings | null };

export type SessionOptions = {
  /** Local id until the server assigns one. */
  chatId: string;
  stored: Conversation | null;
  /** What each request says besides its message. */
  wishes: () => Wishes;
  /** Called when the server assigns an id to a new conversation. */
  onNamed: (id: string) => void;
  /** Called before a question is sent or regenerated on this page. */
  onAsked: () => void;
};
