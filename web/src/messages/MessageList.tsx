// All messages in order. Only those that changed are drawn again; those out of view cost no layout.
import type { Talk } from "../chat/useConversation";
import { Answer } from "./Answer";
import { Question } from "./Question";

export function MessageList({ talk }: { talk: Talk }) {
  const last = talk.messages.length - 1;
  return (
    <ol className={`messages ${talk.busy ? "messages-busy" : ""}`} aria-label="Messages">
      {talk.messages.map((message, index) => {
        const active = talk.busy && index === last;
        return message.role === "user" ? (
          <Question key={talk.keyOf(message)} message={message} />
        ) : (
          <Answer key={talk.keyOf(message)} message={message} writing={active} isLast={index === last} />
        );
      })}
    </ol>
  );
}
