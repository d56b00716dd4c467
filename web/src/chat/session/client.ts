// The AI SDK chat client with our routes. It sends only the last message; the server has the history.
import { Chat } from "@ai-sdk/react";
import { DefaultChatTransport, generateId, lastAssistantMessageIsCompleteWithApprovalResponses } from "ai";
import { readError } from "../../api";
import { at } from "../../prefix";
import type { Message, Part } from "../../types";

export type ChatEnd = { isAbort: boolean; isDisconnect: boolean; isError: boolean; finishReason?: string | undefined };

type ChatProps = {
  id: string;
  messages: Message[];
  /** Read at each request. */
  wishes: () => object;
  /** Called with the conversation's id when the server assigns it. */
  onConversationId: (id: string) => void;
  onDataPart: (part: { type: string; id?: string; data: unknown }) => void;
  onEnd: (end: ChatEnd) => void;
  /** Whether approval decisions are ready to send. Resets the flag. */
  takeDecisions: () => boolean;
};

export function makeChat(options: ChatProps): Chat<Message> {
  const transport = new DefaultChatTransport<Message>({
    api: at("/api/chat"),
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      if (!response.ok) throw await readError(response);
      const id = response.headers.get("x-conversation-id");
      if (id) options.onConversationId(id);
      return response.body && response.status === 200 ? new Response(watched(response.body), response) : response;
    },
    prepareSendMessagesRequest: ({ id, messages, trigger, messageId }) => ({
      body: {
        id,
        messages: messages.slice(-1).map(sendable),
        trigger,
        if_running: "error", // another tab's answer is never stopped unasked
        ...(messageId ? { messageId } : {}),
        ...options.wishes(),
      },
    }),
  });
  return new Chat<Message>({
    id: options.id,
    messages: options.messages,
    transport,
    sendAutomaticallyWhen: (all) => lastAssistantMessageIsCompleteWithApprovalResponses(all) && options.takeDecisions(),
    onData: (part) => options.onDataPart(part),
    onFinish: (end) => options.onEnd(end),
  });
}

/** Milliseconds without data before the connection counts as lost. The server sends a heartbeat every 15 seconds. */
const silence = 40_000;

/** Makes a silent stream fail like a lost connection. A laptop that wakes up gets no error from the browser. */
function watched(stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  let timer: ReturnType<typeof setTimeout>;
  const wait = (controller: TransformStreamDefaultController<Uint8Array>) => {
    clearTimeout(timer);
    timer = setTimeout(() => controller.error(new TypeError("network: nothing was heard")), silence);
  };
  return stream.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      start: wait,
      transform(chunk, controller) {
        wait(controller);
        controller.enqueue(chunk);
      },
      flush: () => clearTimeout(timer),
    }),
  );
}

export const newId = generateId;

/** The parts of a message that the server reads: the user's text, attachment ids, and approval decisions. */
function sendable({ id, role, parts }: Message) {
  const needed = parts.flatMap((part: Part): unknown[] => {
    if (role === "assistant") return "approval" in part && part.state === "approval-responded" ? [part] : [];
    if (part.type === "text") return [{ type: "text", text: part.text }];
    return part.type === "data-attachment" ? [{ type: part.type, data: { id: part.data.id } }] : [];
  });
  return { id, role, parts: needed };
}
