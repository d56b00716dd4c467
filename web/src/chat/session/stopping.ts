import type { Chat } from "@ai-sdk/react";
import { api } from "../../api";
import { showError } from "../../state/showError";
import { pause } from "../../state/pause";
import type { Message } from "../../types";

/** Milliseconds until the page stops reading a stopped answer that doesn't end. */
const stopTimeout = 4000;

/** Stops the running answer of a conversation. A conversation without an id is identified by the chat's id. */
export async function stopAnswer(chat: Chat<Message>, id: string | null): Promise<void> {
  const answer = chat.lastMessage?.id;
  try {
    await api.post(`/api/chat/${encodeURIComponent(id ?? chat.id)}/stop`);
    await pause(stopTimeout);
    if (chat.status === "streaming" && chat.lastMessage?.id === answer) await chat.stop();
  } catch (error) {
    showError(error, "errors.notStopped");
  }
}
