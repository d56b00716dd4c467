// The session of a mounted conversation view.
import { useChat } from "@ai-sdk/react";
import { createContext } from "preact";
import { useContext, useEffect, useMemo, useReducer, useRef } from "preact/hooks";
import { hear } from "../../state/list";
import type { Message } from "../../types";
import { openTalk, type Talk } from "./session";
import type { Given } from "./sessionState";

/** Milliseconds between renders of a streaming answer. */
const pace = 40;

export function useTalk(given: Omit<Given, "model"> & { model: string | null }) {
  const latest = useRef(given);
  latest.current = given;
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const talk = useMemo(
    () =>
      openTalk({
        chatId: given.chatId,
        stored: given.stored,
        model: () => latest.current.model,
        onNamed: (id) => latest.current.onNamed(id),
        onAsked: given.onAsked,
      }),
    [],
  );
  const { messages, status } = useChat<Message>({ chat: talk.chat, throttle: pace });

  useEffect(() => talk.watch(() => redraw(undefined)), [talk]);
  useEffect(() => {
    if (given.stored?.running) void talk.resume();
    return talk.close;
  }, [talk]);
  useEffect(() => {
    const silent = hear((news, here) => {
      if (!("id" in news) || news.id !== talk.state().id) return;
      if (news.what === "title") talk.titled(news.title);
      else if (!here || talk.chat.status === "ready") void talk.look();
    });
    const seen = () => void (document.visibilityState === "visible" && talk.chat.status === "ready" && talk.look());
    document.addEventListener("visibilitychange", seen);
    window.addEventListener("pagehide", talk.keep);
    return () => {
      silent();
      window.removeEventListener("pagehide", talk.keep);
      document.removeEventListener("visibilitychange", seen);
    };
  }, [talk]);
  return { talk, messages, status, busy: status === "submitted" || status === "streaming", ...talk.state() };
}

export type Talked = ReturnType<typeof useTalk>;

/** Lets a message act on its conversation. */
export const TalkContext = createContext<Talk | null>(null);

export function useTalkHere(): Talk {
  const talk = useContext(TalkContext);
  if (!talk) throw new Error("a message is drawn outside of its conversation");
  return talk;
}
