// Notices below the last message: the answer is being written or retried, or failed, with a way to recover.
import { useEffect, useState } from "preact/hooks";
import { Button, RetryIcon, Spinner, WarnIcon } from "../ui";
import type { SessionView } from "./session/useSession";
import { statusText } from "./statusText";

export function Notices({ sessionView }: { sessionView: SessionView }) {
  const { session, about, lost, problem, remedy, live, messages, status } = sessionView;
  const online = useOnline();
  const answer = { status, running: about?.running ?? false, problem, last: messages.at(-1) };
  const writing = lost ? "The connection is lost." : statusText(answer);
  return (
    <>
      <p className="unseen" role="status">
        {writing}
      </p>
      {lost || !online ? (
        <p className="notice notice-warn">
          <Spinner />
          <span>
            {online ? "The connection is lost. " : "You are offline. "}
            Answers go on at the server and nothing is lost; this page comes back by itself.
          </span>
        </p>
      ) : (
        problem && (
          <div className="notice notice-bad" role="alert">
            <WarnIcon />
            <span>{problem}</span>
            {remedy === "again" && (
              <Button onClick={() => session.regenerate()}>
                <RetryIcon size={16} /> Try again
              </Button>
            )}
            {remedy === "back" && <span>What you wrote is back in the box.</span>}
          </div>
        )
      )}
      {!lost && live.isWorkerLost && (
        <p className="notice notice-warn">
          <Spinner />
          <span>The server lost this answer’s worker: waiting for another. Nothing that was stored is lost.</span>
        </p>
      )}
      {!lost && live.retry && (
        <p className="notice">
          <Spinner />
          <span>
            {live.retry.reason} (asking again{live.retry.seconds >= 1 ? ` in ${Math.round(live.retry.seconds)} s` : ""})
          </span>
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

/** Whether the browser reports a network connection. */
function useOnline(): boolean {
  const [online, setOnline] = useState(navigator.onLine);
  useEffect(() => {
    const read = () => setOnline(navigator.onLine);
    window.addEventListener("online", read);
    window.addEventListener("offline", read);
    return () => {
      window.removeEventListener("online", read);
      window.removeEventListener("offline", read);
    };
  }, []);
  return online;
}
