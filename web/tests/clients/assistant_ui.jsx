// A page of assistant-ui with its runtime for npm's `ai` and its own attachment adapter.
import {
  AssistantRuntimeProvider,
  AttachmentPrimitive,
  ComposerPrimitive,
  getExternalStoreMessages,
  MessagePrimitive,
  SimpleImageAttachmentAdapter,
  ThreadPrimitive,
} from "@assistant-ui/react";
import { AssistantChatTransport, useChatRuntime } from "@assistant-ui/react-ai-sdk";
import { convertToModelMessages } from "ai";
import { createRoot } from "react-dom/client";

const root = document.getElementById("root");
const transport = new AssistantChatTransport({
  api: root.dataset.api,
  headers: { authorization: "Bearer token-of-ann" },
});
const attachments = new SimpleImageAttachmentAdapter();

const Text = ({ text }) => <p>{text}</p>;
const Tool = ({ result, status }) => <pre>{`${status.type} ${JSON.stringify(result)}`}</pre>;
const Attachment = () => (
  <AttachmentPrimitive.Root>
    <AttachmentPrimitive.Name />
  </AttachmentPrimitive.Root>
);
const User = () => (
  <MessagePrimitive.Root>
    <MessagePrimitive.Parts />
  </MessagePrimitive.Root>
);
const Assistant = () => (
  <MessagePrimitive.Root>
    <article aria-label="assistant">
      <MessagePrimitive.Parts components={{ Text, tools: { Fallback: Tool } }} />
    </article>
  </MessagePrimitive.Root>
);

function App() {
  const runtime = useChatRuntime({ transport, adapters: { attachments } });
  window.convert = () => convertToModelMessages(runtime.thread.getState().messages.flatMap(getExternalStoreMessages));
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <ThreadPrimitive.Root>
        <ThreadPrimitive.Messages components={{ UserMessage: User, AssistantMessage: Assistant }} />
        <ComposerPrimitive.Root>
          <ComposerPrimitive.Attachments components={{ Attachment }} />
          <ComposerPrimitive.AddAttachment>Attach</ComposerPrimitive.AddAttachment>
          <ComposerPrimitive.Input aria-label="Message" />
          <ComposerPrimitive.Send>Send</ComposerPrimitive.Send>
          <ComposerPrimitive.Cancel>Cancel</ComposerPrimitive.Cancel>
        </ComposerPrimitive.Root>
      </ThreadPrimitive.Root>
    </AssistantRuntimeProvider>
  );
}

createRoot(root).render(<App />);
