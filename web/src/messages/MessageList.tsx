// All messages in order. Only those that changed are drawn again; those out of view cost no layout.
import type { Talked } from "../chat/useTalk";
import { Answer } from "./Answer";
import { Question } from "./Question";

export function MessageList({ talked }: { talked: Talked }) {
  const { talk, messages, busy } = talked;
  const last = messages.length - 1;
  return (
    <ol className={`messages ${busy ? "messages-busy" : ""}`} aria-label="Messages">
      {messages.map((message, index) => {
        const active = busy && index === last;
        return message.role === "user" ? (
          <Question key={talk.keyOf(message)} message={message} />
        ) : (
          <Answer key={talk.keyOf(message)} message={message} writing={active} isLast={index === last} />
        );
      })}
    </ol>
  );
}
