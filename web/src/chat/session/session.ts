// The state of one conversation, independent of components: it sends, follows the stream, reconnects after a
// network failure, and stays in sync with the server.
import { api, ApiError, wordsOf } from "../../api";
import type { Attachment } from "../../files";
import { t } from "../../language";
import { notify } from "../../state/list";
import { pause, waitOf } from "../../state/pause";
import type { Message } from "../../types";
import { toast } from "../../ui";
import { type ChatEnd, makeChat } from "./client";
import { makeFileStore } from "./fileStore";
import { applyPart, idle } from "./liveStatus";
import { keepKeys, merge } from "./mergeMessages";
import { makeOutbox } from "./outbox";
import { makeSender } from "./sending";
import { stopAnswer } from "./stopping";
import { noErrors, type SessionOptions, makeState } from "./sessionState";
import { addressOf, ALL, loadNewest, NEWEST } from "./stored";

export type Session = ReturnType<typeof openSession>;

export function openSession(options: SessionOptions) {
  const fileStore = makeFileStore(options.stored?.attachments ?? []);
  const keys = new Map<string, string>();
  const leaving = new AbortController();
  const { now, set, watch } = makeState({
    ...noErrors,
    id: options.stored?.id ?? null,
    about: options.stored,
    earlier: options.stored?.earlier ?? false,
  });
  const outbox = makeOutbox();
  /** Whether there are approval decisions to send. They are sent once, whatever the response. */
  let isDecided = false;
  /** Whether the last request carries decisions that the server hasn't accepted yet. */
  let decides = false;
  /** Whether this page requested an answer that hasn't started yet. Other tabs are notified when it starts. */
  let isRequested = false;
  /** Number of messages to load, if more than those that are shown. */
  let wanted = NEWEST;
  /** Number of answers that finished or broke off. */
  let endings = 0;

  const chat = makeChat({
    id: options.stored?.id ?? options.chatId,
    messages: options.stored?.messages ?? [],
    wishes: options.wishes,
    onConversationId,
    onDataPart,
    onEnd,
    takeDecisions: () => {
      decides = isDecided;
      isDecided = false;
      return decides;
    },
  });

  /** The server stored the message in this conversation. */
  function onConversationId(id: string) {
    outbox.clear();
    decides = false;
    const isLeft = leaving.signal.aborted;
    if (now().id !== id) {
      set({ id });
      if (!isLeft) options.onNamed(id);
    }
    if (isRequested) notify({ what: "run", id });
    isRequested = false;
    if (isLeft) void chat.stop();
  }

  function onDataPart(part: { type: string; data: unknown }) {
    if (part.type === "data-attachment") fileStore.add([part.data as Attachment]);
    else set({ live: applyPart(now().live, part) });
  }

  /** Loads the stored messages, and follows a running answer. */
  async function refresh(): Promise<void> {
    const { id } = now();
    if (!id) return;
    const there = await loadNewest(id, Math.max(wanted, chat.messages.length), leaving.signal);
    fileStore.add(there.attachments);
    set({ about: there });
    if (chat.status === "streaming" || chat.status === "submitted") return;
    keepKeys(keys, chat.messages, there.messages);
    chat.messages = merge(chat.messages, there.messages);
    set({ earlier: there.earlier });
    if (there.running) void resume();
  }

  /** Loads some earlier messages, or all. While an answer is written there are none: it is in the last message. */
  async function showEarlier(all = false) {
    if (now().loadingEarlier || !now().earlier || chat.status === "streaming" || chat.status === "submitted") return;
    wanted = all ? ALL : 3 * chat.messages.length;
    set({ loadingEarlier: true });
    await refreshQuietly();
    wanted = NEWEST;
    set({ loadingEarlier: false });
  }

  /** Follows a running answer. If it has finished meanwhile, it is loaded like any other. */
  async function resume() {
    const before = endings;
    await chat.resumeStream();
    if (endings === before && !leaving.signal.aborted) await refreshQuietly();
  }

  /** Polls until the server responds, then resumes. */
  async function reconnect() {
    set({ lost: true, problem: null });
    for (let round = 0; !leaving.signal.aborted; round++) {
      await pause(waitOf(round));
      try {
        const sending = outbox.current();
        if (sending && !sending.edits) {
          await api.get("/api/me", { signal: leaving.signal });
          chat.clearError();
          set({ lost: false });
          chat.messages = chat.messages.filter((message) => message.id !== sending.id);
          return void chat.sendMessage(sending); // same id, so the server drops a duplicate
        }
        chat.clearError();
        await refresh();
        returnToComposer();
        break;
      } catch (failed) {
        if (!(failed instanceof ApiError) || failed.status === 0 || failed.status >= 500) continue;
        if (failed.status === 429 && !outbox.current()) continue; // there is no unsent message, so it can wait
        set({ lost: false });
        return void fail(failed);
      }
    }
    set({ lost: false });
  }

  function onEnd({ isAbort, isDisconnect, isError, finishReason }: ChatEnd) {
    endings += 1;
    set({ live: idle });
    if (leaving.signal.aborted) return void returnToComposer(); // an unsent message becomes a draft
    notify({ what: "list" });
    const isTruncated = !isAbort && !isError && finishReason === undefined;
    if (isDisconnect || isTruncated) return void reconnect();
    // The client's status is "streaming" until this function returns.
    setTimeout(() => void (isError ? fail(chat.error) : refreshQuietly()), 0);
  }

  /** Shows the error and a remedy. A message that the server rejected returns to the composer. */
  async function fail(error: unknown) {
    const status = error instanceof ApiError ? error.status : null;
    const isAnswer = decides && status !== null;
    const isBack = status !== null && returnToComposer();
    decides = false;
    chat.clearError();
    if (isAnswer) toast(status === 409 || status === 422 ? t("chat.decided") : wordsOf(error), "bad");
    else if (status === 409) toast(t(isBack ? "chat.busyAndBack" : "chat.busy"));
    else set({ problem: wordsOf(error), needsKey: error instanceof ApiError && error.kind === "MissingKey", remedy: isBack ? "back" : null });
    await refreshQuietly();
    if (isBack || now().problem === null) return;
    const isRefused = chat.lastMessage?.metadata?.status === "refused"; // a retry would be refused too; the answer shows the reason
    set(isRefused ? { problem: null } : { remedy: "again" });
  }

  /** Returns an unsent message to the composer. Whether there was one. */
  function returnToComposer(): boolean {
    const back = outbox.returnToComposer(now().id);
    if (back) chat.messages = chat.messages.filter((other) => other.id !== back.id);
    return back !== null;
  }

  /** Refreshes and ignores errors: the next refresh or message reports them. */
  async function refreshQuietly() {
    await refresh().catch(() => undefined);
  }

  function begin(asks: boolean) {
    isRequested = true;
    set({ problem: null });
    if (asks) options.onAsked();
  }

  /** Shows the branch of a message, by its id, or of a file, by its number. */
  async function branch(place: string | number) {
    const body = typeof place === "number" ? { file: place } : { message_id: place };
    await api.post(`${addressOf(now().id ?? "")}/branch?newest=1`, body);
    await refresh();
  }

  /** Turns a message that waits for the network into a draft. */
  function keep() {
    if (now().lost) returnToComposer();
  }

  return {
    chat,
    fileStore,
    state: now,
    watch,
    keyOf: (message: Message) => keys.get(message.id) ?? message.id,
    refreshQuietly,
    showEarlier,
    resume,
    ...makeSender(chat, outbox, fileStore, begin),
    branch,
    stop: () => stopAnswer(chat, now().id),
    answer(id: string, approved: boolean) {
      begin(false);
      isDecided = true;
      void chat.addToolApprovalResponse({ id, approved });
    },
    titled(title: string) {
      const { about } = now();
      if (about) set({ about: { ...about, title } });
    },
    keep,
    /** Stops reading. The run on the server continues, and requests in flight are completed. */
    close() {
      leaving.abort();
      keep();
      if (!isRequested) void chat.stop();
    },
  };
}
