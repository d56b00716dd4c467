// The session of a mounted conversation view.
import { useChat } from "@ai-sdk/react";
import { createContext } from "preact";
import { useContext, useEffect, useMemo, useReducer, useRef } from "preact/hooks";
import { subscribe } from "../../state/list";
import type { Message } from "../../types";
import { openSession, type Session } from "./session";
import type { SessionOptions, Wishes } from "./sessionState";

/** Milliseconds between renders of a streaming answer. */
const pace = 40;

export function useSession(options: Omit<SessionOptions, "wishes"> & { wishes: Wishes }) {
  const latest = useRef(options);
  latest.current = options;
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const session = useMemo(
    () =>
      openSession({
        chatId: options.chatId,
        stored: options.stored,
        wishes: () => latest.current.wishes,
        onNamed: (id) => latest.current.onNamed(id),
        onAsked: options.onAsked,
      }),
    [],
  );
  const { messages, status } = useChat<Message>({ chat: session.chat, throttle: pace });

  useEffect(() => session.watch(() => redraw(undefined)), [session]);
  useEffect(() => {
    if (options.stored?.running) void session.resume();
    return session.close;
  }, [session]);
  useEffect(() => {
    const unsubscribe = subscribe((news, here) => {
      if (!("id" in news) || news.id !== session.state().id) return;
      if (news.what === "title") session.titled(news.title);
      else if (!here || session.chat.status === "ready") void session.refreshQuietly();
    });
    const onVisible = () => void (document.visibilityState === "visible" && session.chat.status === "ready" && session.refreshQuietly());
    document.addEventListener("visibilitychange", onVisible);
    window.addEventListener("pagehide", session.keep);
    return () => {
      unsubscribe();
      window.removeEventListener("pagehide", session.keep);
      document.removeEventListener("visibilitychange", onVisible);
    };
  }, [session]);
  return { session, messages, status, busy: status === "submitted" || status === "streaming", ...session.state() };
}

export type SessionView = ReturnType<typeof useSession>;

/** Lets a message act on its conversation. */
export const SessionContext = createContext<Session | null>(null);

export function useCurrentSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error("a message is drawn outside of its conversation");
  return session;
}
