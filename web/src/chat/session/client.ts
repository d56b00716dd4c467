// The stock chat client, on our addresses: of the history it holds only the last message is ever sent.
import { Chat } from "@ai-sdk/react";
import { DefaultChatTransport, generateId, lastAssistantMessageIsCompleteWithApprovalResponses } from "ai";
import { readError } from "../../api";
import type { Message, Part } from "../../types";

export type Ended = { isAbort: boolean; isDisconnect: boolean; isError: boolean; finishReason?: string | undefined };

type ChatProps = {
  id: string;
  messages: Message[];
  /** The model to ask, read when something is sent. */
  model: () => string | null;
  /** The conversation's id, as soon as the server names it. */
  heardId: (id: string) => void;
  heardData: (part: { type: string; id?: string; data: unknown }) => void;
  ended: (end: Ended) => void;
  /** Whether answers to approvals are there to be sent; asking takes them. */
  takeAnswers: () => boolean;
};

export function makeChat(given: ChatProps): Chat<Message> {
  const transport = new DefaultChatTransport<Message>({
    api: "/api/chat",
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      if (!response.ok) throw await readError(response);
      const id = response.headers.get("x-conversation-id");
      if (id) given.heardId(id);
      return response.body && response.status === 200 ? new Response(watched(response.body), response) : response;
    },
    prepareSendMessagesRequest: ({ id, messages, trigger, messageId }) => ({
      body: {
        id,
        messages: messages.slice(-1).map(sendable),
        trigger,
        ...(messageId ? { messageId } : {}),
        ...(given.model() ? { model: given.model() } : {}),
      },
    }),
  });
  return new Chat<Message>({
    id: given.id,
    messages: given.messages,
    transport,
    sendAutomaticallyWhen: (all) => lastAssistantMessageIsCompleteWithApprovalResponses(all) && given.takeAnswers(),
    onData: (part) => given.heardData(part),
    onFinish: (end) => given.ended(end),
  });
}

/** The server says at least every 15 seconds that it is there; after so much silence it isn't, in milliseconds. */
const silence = 40_000;

/** The same stream, but it fails like a lost connection when nothing is heard: a sleeping laptop gets no error. */
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

/** What the server reads of a message: a person's text and attachments by id, and answers to approvals in an answer. */
function sendable({ id, role, parts }: Message) {
  const kept = parts.flatMap((part: Part): unknown[] => {
    if (role === "assistant") return "approval" in part && part.state === "approval-responded" ? [part] : [];
    if (part.type === "text") return [{ type: "text", text: part.text }];
    return part.type === "data-attachment" ? [{ type: part.type, data: { id: part.data.id } }] : [];
  });
  return { id, role, parts: kept };
}
