// One conversation as the page holds it: sending, following, stopping, and staying equal to what the server stored.
import { useChat } from "@ai-sdk/react";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { api, ApiError, wordsOf } from "../api";
import type { Attachment } from "../files";
import { hear, tell } from "../state/list";
import type { Conversation, Data, Message } from "../types";
import { toast } from "../ui";
import { type Ended, makeChat, newId } from "./client";
import { type Live, quiet } from "./live";
import { filesOf, keepKeys, merge, numbered, withFile } from "./merging";

export type Talk = ReturnType<typeof useConversation>;

type Given = {
  /** What the client calls it until the server names it. */
  chatId: string;
  stored: Conversation | null;
  model: string | null;
  /** The server named a new conversation. */
  onNamed: (id: string) => void;
  /** A message that couldn't be sent goes back to where it was written. */
  onReturned: (text: string) => void;
};

/** How long to wait before looking again for a server that went away, in milliseconds. */
const waits = [500, 1000, 2000, 4000, 8000, 15000];

export function useConversation(given: Given) {
  const latest = useRef(given);
  latest.current = given;
  const id = useRef(given.stored?.id ?? null);
  const [about, setAbout] = useState(given.stored);
  const [files, setFiles] = useState(() => filesOf(given.stored?.attachments ?? []));
  const [live, setLive] = useState<Live>(quiet);
  const [lost, setLost] = useState(false);
  const keys = useRef(new Map<string, string>()).current;
  const left = useRef(false);
  const endings = useRef<(end: Ended) => void>(() => {});

  const chat = useMemo(
    () =>
      makeChat({
        id: given.stored?.id ?? given.chatId,
        messages: given.stored?.messages ?? [],
        model: () => latest.current.model,
        heardId: (heard) => {
          if (id.current === heard) return;
          id.current = heard;
          latest.current.onNamed(heard);
        },
        heardData: (part) => {
          if (part.type === "data-attachment") setFiles((all) => withFile(all, part.data as Attachment));
          if (part.type === "data-progress") {
            const progress = part.data as Data["progress"];
            setLive((now) => ({ ...now, retry: null, progress: { ...now.progress, [progress.tool_call_id]: progress } }));
          }
          if (part.type === "data-retry") setLive((now) => ({ ...now, retry: part.data as Data["retry"] }));
          if (part.type === "data-step") setLive((now) => (now.retry ? { ...now, retry: null } : now));
          if (part.type === "data-notice") toast((part.data as Data["notice"]).text);
        },
        ended: (end) => endings.current(end),
      }),
    [],
  );
  const { messages, status, error } = useChat<Message>({ chat, throttle: 40 });

  /** Reads what the server stored, and follows the answer that is being written there. */
  const refresh = useCallback(async (): Promise<Conversation | null> => {
    if (!id.current) return null;
    const there = await api.get<Conversation>(`/api/conversations/${encodeURIComponent(id.current)}`);
    if (left.current) return there;
    setAbout(there);
    setFiles(filesOf(there.attachments));
    if (chat.status === "streaming" || chat.status === "submitted") return there;
    keepKeys(keys, chat.messages, there.messages);
    chat.messages = merge(chat.messages, there.messages);
    if (there.running) void chat.resumeStream();
    return there;
  }, [chat]);

  /** Looks for the server until it is there again, then goes on where the answer was. */
  const reconnect = useCallback(async () => {
    setLost(true);
    for (let round = 0; !left.current; round++) {
      await pause(waits[Math.min(round, waits.length - 1)] ?? 15000);
      try {
        if (id.current) {
          chat.clearError();
          await refresh();
        } else {
          await api.get("/api/me"); // nothing is stored yet: the message may be sent again
        }
        break;
      } catch (failed) {
        if (failed instanceof ApiError && failed.status !== 0 && failed.status < 500) break;
      }
    }
    setLost(false);
  }, [chat, refresh]);

  endings.current = ({ isAbort, isDisconnect, isError, finishReason }) => {
    setLive(quiet);
    if (left.current) return;
    const torn = !isAbort && !isError && finishReason === undefined;
    tell({ what: "list" });
    if (isDisconnect || torn) void reconnect();
    // The client still counts as streaming until this returns.
    else if (!isError || id.current) setTimeout(() => void refresh().catch(() => {}), 0);
  };

  useEffect(() => {
    left.current = false;
    if (given.stored?.running) void chat.resumeStream();
    return () => {
      left.current = true;
      void chat.stop(); // stops reading only: the run goes on at the server
    };
  }, [chat]);

  useEffect(
    () =>
      hear((news, here) => {
        if (news.what === "run" && !here && news.id === id.current) void refresh().catch(() => {});
      }),
    [refresh],
  );
  useEffect(() => {
    const look = () => void (document.visibilityState === "visible" && chat.status === "ready" && refresh().catch(() => {}));
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, [chat, refresh]);

  // Somebody answers already, or the message was refused: it goes back into the box, and the page shows what is there.
  useEffect(() => {
    if (!(error instanceof ApiError)) return;
    const last = chat.messages.at(-1);
    if (last?.role !== "user" || ![409, 413, 422, 429].includes(error.status)) return;
    if (id.current && error.status === 409) {
      latest.current.onReturned(textOf(last));
      chat.messages = chat.messages.slice(0, -1);
      chat.clearError();
      toast("An answer is being written already, perhaps in another tab. Your message is back in the box.");
      void refresh().catch((failed) => toast(wordsOf(failed), "bad"));
    }
  }, [error]);

  const busy = status === "submitted" || status === "streaming";
  const act = useMemo(() => {
    const announce = () => id.current && setTimeout(() => id.current && tell({ what: "run", id: id.current }), 300);
    return {
      send(text: string, attachments: Attachment[]) {
        const parts: Message["parts"] = attachments.map((file) => ({ type: "data-attachment", id: file.id, data: file }));
        if (text) parts.push({ type: "text", text });
        setFiles((all) => attachments.reduce(withFile, all));
        announce();
        return chat.sendMessage({ role: "user", parts, metadata: { created: new Date().toISOString() } });
      },
      /** The same message once more, under the same id: the server knows it if it had arrived. */
      sendAgain() {
        const last = chat.messages.at(-1);
        chat.clearError();
        if (last?.role !== "user") return chat.regenerate();
        chat.messages = chat.messages.slice(0, -1);
        return chat.sendMessage(last);
      },
      edit(message: Message, text: string) {
        const kept = message.parts.filter((part) => part.type === "data-attachment");
        announce();
        return chat.sendMessage({ role: "user", parts: [...kept, { type: "text", text }], messageId: message.id });
      },
      regenerate(message: Message) {
        announce();
        return chat.regenerate({ messageId: message.id });
      },
      async branch(messageId: string) {
        await api.post(`/api/conversations/${encodeURIComponent(id.current ?? "")}/branch`, { message_id: messageId });
        await refresh();
      },
      answer(approvalId: string, approved: boolean) {
        return chat.addToolApprovalResponse({ id: approvalId, approved });
      },
      async stop() {
        await api.post(`/api/chat/${encodeURIComponent(id.current ?? chat.id)}/stop`).catch((failed) => {
          toast(`Not stopped: ${wordsOf(failed)}`, "bad");
        });
      },
    };
  }, [chat, refresh]);

  const byNumber = useMemo(() => numbered(files), [files]);
  const keyOf = useCallback((message: Message) => keys.get(message.id) ?? message.id, []);
  return { id: id.current, about, messages, status, busy, error, lost, live, files, byNumber, keyOf, refresh, ...act };
}

/** Waits, but not longer than until the browser says that the network is there again. */
function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      window.removeEventListener("online", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    window.addEventListener("online", done);
  });
}

export function textOf(message: Message): string {
  return message.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
}

export { newId };
