// All messages in order. Only changed messages rerender; those out of view cost no layout.
import type { Talked } from "../chat/session/useSession";
import { Answer } from "./Answer";
import { Question } from "./Question";

export function MessageList({ talked, mayWrite }: { talked: Talked; mayWrite: boolean }) {
  const { talk, messages, busy, problem } = talked;
  const last = messages.length - 1;
  return (
    <ol className={`messages ${busy ? "messages-busy" : ""}`} aria-label="Messages">
      {messages.map((message, index) => {
        const key = talk.keyOf(message);
        if (message.role === "user") return <Question key={key} message={message} mayWrite={mayWrite} />;
        const isLast = index === last;
        return (
          <Answer
            key={key}
            message={message}
            writing={busy && isLast}
            isLast={isLast}
            isErrorShown={isLast && problem !== null}
            mayWrite={mayWrite}
          />
        );
      })}
    </ol>
  );
}
