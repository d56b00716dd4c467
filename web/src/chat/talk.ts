// One conversation as the page holds it, without any component: it sends, follows, comes back after the network was
// away, and stays equal to what the server stored.
import { api, ApiError, wordsOf } from "../api";
import type { Attachment } from "../files";
import { tell } from "../state/list";
import type { Conversation, Data, Message } from "../types";
import { toast } from "../ui";
import { type Ended, makeChat } from "./client";
import { makeFiling } from "./filing";
import { type Live, quiet } from "./live";
import { keepKeys, merge, textOf } from "./merging";

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

export type Talk = ReturnType<typeof openTalk>;

/** How long to wait before looking again for a server that is away, in milliseconds. */
const waits = [500, 1000, 2000, 4000, 8000, 15000];
/** A stopped answer ends by itself; if it doesn't for so long, the page stops reading. In milliseconds. */
const patience = 4000;

export function openTalk(given: Given) {
  const filing = makeFiling(given.stored?.attachments ?? []);
  const keys = new Map<string, string>();
  const watchers = new Set<() => void>();
  const leaving = new AbortController();
  let state: TalkState = { id: given.stored?.id ?? null, about: given.stored, live: quiet, lost: false, problem: null, again: false };
  /** The message that is on its way, until the server has it. */
  let unsent: Message | null = null;

  const chat = makeChat({
    id: given.stored?.id ?? given.chatId,
    messages: given.stored?.messages ?? [],
    model: given.model,
    heardId(id) {
      unsent = null;
      if (state.id === id) return;
      set({ id });
      given.onNamed(id);
    },
    heardData,
    ended,
  });

  function set(change: Partial<TalkState>) {
    state = { ...state, ...change };
    for (const watch of [...watchers]) watch();
  }

  function heardData(part: { type: string; data: unknown }) {
    const live = state.live;
    if (part.type === "data-attachment") filing.add([part.data as Attachment]);
    else if (part.type === "data-notice") toast((part.data as Data["notice"]).text);
    else if (part.type === "data-retry") set({ live: { ...live, retry: part.data as Data["retry"] } });
    else if (part.type === "data-progress") {
      const progress = part.data as Data["progress"];
      set({ live: { retry: null, progress: { ...live.progress, [progress.tool_call_id]: progress } } });
    } else if (live.retry) set({ live: { ...live, retry: null } });
  }

  /** Reads what the server stored, and follows the answer that is being written there. */
  async function refresh(): Promise<void> {
    if (!state.id) return;
    const there = await api.get<Conversation>(addressOf(state.id), { signal: leaving.signal });
    filing.add(there.attachments);
    set({ about: there });
    if (chat.status === "streaming" || chat.status === "submitted") return;
    keepKeys(keys, chat.messages, there.messages);
    chat.messages = merge(chat.messages, there.messages);
    if (there.running) void chat.resumeStream();
  }

  /** Looks for the server until it is there again, then goes on where it was. */
  async function reconnect() {
    set({ lost: true, problem: null });
    for (let round = 0; !leaving.signal.aborted; round++) {
      await pause(waits[round] ?? waits.at(-1) ?? 0);
      try {
        if (!state.id) await api.get("/api/me", { signal: leaving.signal });
        chat.clearError();
        const sending = unsent;
        if (sending) {
          set({ lost: false });
          chat.messages = chat.messages.filter((message) => message.id !== sending.id);
          return void chat.sendMessage(sending); // under the same id: if it had arrived, it is the same message
        }
        await refresh();
        break;
      } catch (failed) {
        if (failed instanceof ApiError && failed.status > 0 && failed.status < 500) break;
      }
    }
    set({ lost: false });
  }

  function ended({ isAbort, isDisconnect, isError, finishReason }: Ended) {
    set({ live: quiet });
    if (leaving.signal.aborted) return;
    tell({ what: "list" });
    const isTorn = !isAbort && !isError && finishReason === undefined;
    if (isDisconnect || isTorn) return void reconnect();
    // The client still counts as streaming until this function is through.
    setTimeout(() => (isError ? fail(chat.error) : void look()), 0);
  }

  /** Says what went wrong. A message that the server didn't take goes back to where it was written. */
  function fail(error: unknown) {
    const refused = error instanceof ApiError ? unsent : null;
    const isBusy = error instanceof ApiError && error.status === 409;
    set({ problem: isBusy ? null : wordsOf(error), again: !refused && !isBusy });
    if (isBusy) toast("An answer is being written already, perhaps in another tab. What you wrote is back in the box.");
    if (refused) {
      unsent = null;
      chat.messages = chat.messages.filter((message) => message !== refused && message.id !== refused.id);
      given.onReturned(textOf(refused), filesIn(refused));
    }
    chat.clearError();
    void look();
  }

  /** A refresh that may fail: the next one, or the next message, will tell. */
  async function look() {
    await refresh().catch(() => undefined);
  }

  async function send(message: Message, messageId?: string) {
    set({ problem: null });
    unsent = message;
    filing.add(filesIn(message));
    if (state.id) tell({ what: "run", id: state.id });
    if (messageId) await chat.sendMessage({ role: "user", parts: message.parts, messageId });
    else await chat.sendMessage(message);
  }

  async function regenerate(message?: Message) {
    set({ problem: null });
    if (state.id) tell({ what: "run", id: state.id });
    await chat.regenerate(message ? { messageId: message.id } : {});
  }

  async function branch(messageId: string) {
    await api.post(`${addressOf(state.id ?? "")}/branch`, { message_id: messageId });
    await refresh();
  }

  async function stop() {
    const { status } = chat;
    try {
      await api.post(`/api/chat/${encodeURIComponent(state.id ?? chat.id)}/stop`);
      await pause(patience);
      if (status === chat.status && chat.lastMessage?.metadata?.status === undefined) await chat.stop();
    } catch (error) {
      toast(`Not stopped: ${wordsOf(error)}`, "bad");
    }
  }

  return {
    chat,
    filing,
    state: () => state,
    watch(watch: () => void) {
      watchers.add(watch);
      return () => void watchers.delete(watch);
    },
    keyOf: (message: Message) => keys.get(message.id) ?? message.id,
    look,
    send,
    regenerate,
    branch,
    stop,
    answer: (id: string, approved: boolean) => void chat.addToolApprovalResponse({ id, approved }),
    titled(title: string) {
      if (state.about) set({ about: { ...state.about, title } });
    },
    /** Stops reading. What runs at the server goes on. */
    close() {
      leaving.abort();
      void chat.stop();
    },
  };
}

const addressOf = (id: string) => `/api/conversations/${encodeURIComponent(id)}`;

const filesIn = (message: Message) => message.parts.flatMap((part) => (part.type === "data-attachment" ? [part.data] : []));

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
