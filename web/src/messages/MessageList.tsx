// All messages in order. Only changed messages rerender; those far from the view cost no layout.
import "../styles/messages.css";
import "../styles/progress.css";
import "../styles/tools.css";
import "../styles/prose.css";
import "../styles/print.css";
import type { SessionView } from "../chat/session/useSession";
import { t } from "../language";
import { Answer } from "./Answer";
import { Question } from "./Question";

export function MessageList({ sessionView, mayWrite }: { sessionView: SessionView; mayWrite: boolean }) {
  const { session, messages, busy, problem } = sessionView;
  const last = messages.length - 1;
  const owner = sessionView.about?.shared_by ?? null;
  return (
    <ol className={`messages ${busy ? "messages-busy" : ""}`} aria-label={t("messages.list")}>
      {messages.map((message, index) => {
        const key = session.keyOf(message);
        if (message.role === "user") return <Question key={key} message={message} mayWrite={mayWrite} owner={owner} />;
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
