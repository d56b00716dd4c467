// A page of the stock client: `useChat` as its documentation shows it. It keeps its messages in the browser.
import { useChat } from "@ai-sdk/react";
import { convertToModelMessages, DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from "ai";
import { useEffect, useRef, useState } from "react";
import { createRoot } from "react-dom/client";

const asked = new URLSearchParams(location.search);
const id = asked.get("chat");
const root = document.getElementById("root");
/** With `?newest` as in the guide to persistence, whose server has the history. */
const newest = ({ id, messages, trigger, messageId }) => ({ body: { id, message: messages.at(-1), trigger, messageId } });
const transport = new DefaultChatTransport({
  api: root.dataset.api,
  headers: { authorization: "Bearer token-of-ann" },
  ...(asked.has("newest") ? { prepareSendMessagesRequest: newest } : {}),
});
const kept = JSON.parse(localStorage.getItem(id) ?? "[]");

function App() {
  const chat = useChat({
    id,
    transport,
    messages: kept,
    resume: kept.length > 0,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  const { messages, status, error } = chat;
  const [text, setText] = useState("");
  const picker = useRef(null);
  useEffect(() => localStorage.setItem(id, JSON.stringify(messages.filter(({ role }) => role === "user"))), [messages]);

  useEffect(() => {
    window.convert = () => convertToModelMessages(messages);
  }, [messages]);

  function send(event) {
    event.preventDefault();
    chat.sendMessage({ text, files: picker.current.files.length > 0 ? picker.current.files : undefined });
    picker.current.value = "";
    setText("");
  }

  return (
    <main data-status={status} data-error={error?.message}>
      {messages.map((message) => (
        <article key={message.id} aria-label={message.role}>
          {message.parts.map((part, index) => (
            <Part key={index} part={part} approve={chat.addToolApprovalResponse} />
          ))}
          {message.role === "user" && (
            <button onClick={() => chat.sendMessage({ text: "three", messageId: message.id })}>Edit</button>
          )}
        </article>
      ))}
      <form onSubmit={send}>
        <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
        <input aria-label="Files" type="file" multiple ref={picker} />
        <button>Send</button>
      </form>
      <button onClick={() => chat.stop()}>Stop</button>
      <button onClick={() => chat.regenerate()}>Regenerate</button>
    </main>
  );
}

function Part({ part, approve }) {
  if (part.type === "text") return <p>{part.text}</p>;
  if (part.type === "file") return <img src={part.url} alt={part.mediaType} />;
  if (part.type === "source-url") return <a href={part.url}>{part.title}</a>;
  if (!part.type.startsWith("tool-")) return null;
  return (
    <pre>
      {part.providerExecuted && "run by the provider: "}
      {part.state} {JSON.stringify(part.output)}
      {part.state === "approval-requested" && (
        <>
          <button onClick={() => approve({ id: part.approval.id, approved: true })}>Approve</button>
          <button onClick={() => approve({ id: part.approval.id, approved: false })}>Deny</button>
        </>
      )}
    </pre>
  );
}

createRoot(root).render(<App />);
