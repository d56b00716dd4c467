import type { Chat } from "@ai-sdk/react";
import { api } from "../../api";
import { complain } from "../../state/complain";
import { pause } from "../../state/pause";
import type { Message } from "../../types";

/** A stopped answer ends by itself; if it doesn't for so long, the page stops reading. In milliseconds. */
const patience = 4000;

/** Stops the answer that is being written in a conversation; one without an id is known by its chat's. */
export async function stopAnswer(chat: Chat<Message>, id: string | null): Promise<void> {
  const answer = chat.lastMessage?.id;
  try {
    await api.post(`/api/chat/${encodeURIComponent(id ?? chat.id)}/stop`);
    await pause(patience);
    if (chat.status === "streaming" && chat.lastMessage?.id === answer) await chat.stop();
  } catch (error) {
    complain(error, "Not stopped: ");
  }
}
