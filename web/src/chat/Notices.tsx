// What there is to say below the last message: it is being written, tried again, or went wrong and what to do.
import { wordsOf } from "../api";
import { Button, RetryIcon, Spinner, WarnIcon } from "../ui";
import type { Talk } from "./useConversation";

export function Notices({ talk }: { talk: Talk }) {
  const { lost, error, live, status } = talk;
  const writing = lost ? "Connection lost" : statusWords(talk);
  return (
    <>
      <p className="unseen" role="status">
        {writing}
      </p>
      {lost ? (
        <p className="notice notice-warn">
          <Spinner /> The connection is lost. What is being written is kept; trying again…
        </p>
      ) : (
        error && (
          <div className="notice notice-bad" role="alert">
            <WarnIcon />
            <span>{wordsOf(error) || "The answer could not be written."}</span>
            <Button onClick={() => void talk.sendAgain()}>
              <RetryIcon size={16} /> Try again
            </Button>
          </div>
        )
      )}
      {!lost && live.retry && (
        <p className="notice">
          <Spinner /> {live.retry.reason} Asking again{live.retry.seconds >= 1 ? ` in ${Math.round(live.retry.seconds)} s` : ""}…
        </p>
      )}
      {!lost && status === "submitted" && !live.retry && (
        <p className="thinking" aria-hidden="true">
          <span />
          <span />
          <span />
        </p>
      )}
    </>
  );
}

function statusWords({ status, error, messages }: Talk): string {
  if (status === "submitted" || status === "streaming") return "An answer is being written.";
  if (error) return "";
  return messages.at(-1)?.role === "assistant" ? "The answer is there." : "";
}
