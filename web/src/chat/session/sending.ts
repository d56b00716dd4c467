// Sends, edits, regenerates and continues in a conversation.
import type { Chat } from "@ai-sdk/react";
import type { Attachment } from "../../files";
import { t } from "../../language";
import type { Message } from "../../types";
import { newId } from "./client";
import type { FileStore } from "./fileStore";
import { partsOf } from "./mergeMessages";
import type { Outbox } from "./outbox";
import { resumesAutomatically } from "./resuming";

/** `begin` is called before each request; its argument is true for a question, which should be scrolled into view. */
export function makeSender(chat: Chat<Message>, outbox: Outbox, fileStore: FileStore, begin: (asks: boolean) => void) {
  function send(text: string, attachments: readonly Attachment[]) {
    const metadata = { created: Date.now() / 1000 };
    const message: Message = { id: newId(), role: "user", parts: partsOf(text, attachments), metadata };
    begin(true);
    outbox.set(message);
    fileStore.add(attachments);
    void chat.sendMessage(message);
  }

  /** Sends an edited message with the files that were kept, as a new branch. */
  function edit(message: Message, text: string, files: readonly Attachment[]) {
    const parts = partsOf(text, files);
    begin(true);
    outbox.set({ ...message, parts, edits: message.id });
    void chat.sendMessage({ role: "user", parts, messageId: message.id });
  }

  /** Requests another answer in place of this one, or to this question. */
  function regenerate(message = chat.lastMessage) {
    if (!message) return;
    begin(true);
    void chat.regenerate({ messageId: message.id });
  }

  /** Continues the last answer, which ended early. */
  function goOn(answer: Message) {
    if (!resumesAutomatically(answer)) return send(t("chat.continue"), []);
    begin(false);
    void chat.sendMessage();
  }

  return { send, edit, regenerate, goOn };
}
