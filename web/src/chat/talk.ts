// One conversation as the page holds it, without any component: it sends, follows, comes back after the network was
// away, and stays equal to what the server stored.
import { api, ApiError, wordsOf } from "../api";
import type { Attachment } from "../files";
import { complain } from "../state/complain";
import { tell } from "../state/list";
import type { Conversation, Data, Message } from "../types";
import { toast } from "../ui";
import { type Ended, makeChat, newId } from "./client";
import { makeFiling } from "./filing";
import { after, quiet } from "./live";
import { filesIn, keepKeys, merge, partsOf, textOf } from "./merging";
import { pause } from "./pause";
import { fine, type Given, type TalkState } from "./talkState";

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
  let state: TalkState = { ...fine, id: given.stored?.id ?? null, about: given.stored };
  /** Whether the person said yes or no since the last answers were sent: they are sent once, whatever comes back. */
  let isDecided = false;
  /** Whether this page asked for the answer: then other tabs are told when it begins. */
  let begun = false;
  /** How many answers were read to their end, or as far as they came. */
  let endings = 0;
  /** The message that is on its way, until the server has it; `edits` is the id of the one that it replaces. */
  let unsent: (Message & { edits?: string }) | null = null;

  const chat = makeChat({
    id: given.stored?.id ?? given.chatId,
    messages: given.stored?.messages ?? [],
    model: given.model,
    heardId(id) {
      unsent = null;
      if (state.id !== id) {
        set({ id });
        given.onNamed(id);
      }
      if (begun) tell({ what: "run", id });
      begun = false;
    },
    heardData,
    ended,
    takeAnswers: () => {
      const decided = isDecided;
      isDecided = false;
      return decided;
    },
  });

  function set(change: Partial<TalkState>) {
    state = { ...state, ...change };
    for (const watch of [...watchers]) watch();
  }

  function heardData(part: { type: string; data: unknown }) {
    if (part.type === "data-attachment") filing.add([part.data as Attachment]);
    else if (part.type === "data-notice") toast((part.data as Data["notice"]).text);
    else set({ live: after(state.live, part) });
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
    if (there.running) void resume();
  }

  /** Follows the answer that is being written; one that was over by now is read like any other. */
  async function resume() {
    const before = endings;
    await chat.resumeStream();
    if (endings === before && !leaving.signal.aborted) await look();
  }

  /** Looks for the server until it is there again, then goes on where it was. */
  async function reconnect() {
    set({ lost: true, problem: null });
    for (let round = 0; !leaving.signal.aborted; round++) {
      await pause(waits[round] ?? waits.at(-1) ?? 0);
      try {
        const sending = unsent;
        if (sending && !sending.edits) {
          await api.get("/api/me", { signal: leaving.signal });
          chat.clearError();
          set({ lost: false });
          chat.messages = chat.messages.filter((message) => message.id !== sending.id);
          return void chat.sendMessage(sending); // under the same id: if it had arrived, it is the same message
        }
        chat.clearError();
        await refresh();
        giveBack();
        break;
      } catch (failed) {
        if (failed instanceof ApiError && failed.status > 0 && failed.status < 500) break;
      }
    }
    set({ lost: false });
  }

  function ended({ isAbort, isDisconnect, isError, finishReason }: Ended) {
    endings += 1;
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
    const isBusy = error instanceof ApiError && error.status === 409;
    const isRefused = error instanceof ApiError && giveBack();
    set({ problem: isBusy ? null : wordsOf(error), again: !isRefused && !isBusy });
    if (isBusy) toast("An answer is being written already, perhaps in another tab. What you wrote is back in the box.");
    chat.clearError();
    void look();
  }

  /** A message that the server hasn't got goes back to where it was written. Whether there was one. */
  function giveBack(): boolean {
    const message = unsent;
    if (!message) return false;
    unsent = null;
    chat.messages = chat.messages.filter((other) => other.id !== message.id);
    given.onReturned(textOf(message), message.edits ? [] : filesIn(message));
    return true;
  }

  /** A refresh that may fail: the next one, or the next message, will tell. */
  async function look() {
    await refresh().catch(() => undefined);
  }

  function begin() {
    begun = true;
    set({ problem: null });
  }

  function send(text: string, attachments: readonly Attachment[]) {
    const metadata = { created: Date.now() / 1000 };
    const message: Message = { id: newId(), role: "user", parts: partsOf(text, attachments), metadata };
    begin();
    unsent = message;
    filing.add(attachments);
    void chat.sendMessage(message);
  }

  /** The message in other words, with those of its files that stay: a branch of its own. */
  function edit(message: Message, text: string, files: readonly Attachment[]) {
    const parts = partsOf(text, files);
    begin();
    unsent = { ...message, parts, edits: message.id };
    void chat.sendMessage({ role: "user", parts, messageId: message.id });
  }

  /** Another answer in the place of this one, or to this question. */
  function regenerate(message = chat.lastMessage) {
    if (!message) return;
    begin();
    void chat.regenerate({ messageId: message.id });
  }

  async function branch(messageId: string) {
    await api.post(`${addressOf(state.id ?? "")}/branch`, { message_id: messageId });
    await refresh();
  }

  async function stop() {
    const answer = chat.lastMessage?.id;
    try {
      await api.post(`/api/chat/${encodeURIComponent(state.id ?? chat.id)}/stop`);
      await pause(patience);
      if (chat.status === "streaming" && chat.lastMessage?.id === answer) await chat.stop();
    } catch (error) {
      complain(error, "Not stopped: ");
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
    resume,
    send,
    edit,
    regenerate,
    branch,
    stop,
    answer(id: string, approved: boolean) {
      begin();
      isDecided = true;
      void chat.addToolApprovalResponse({ id, approved });
    },
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
