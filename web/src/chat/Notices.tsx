// Notices below the last message: the answer is being written or retried, or failed, with a way to recover.
import { useEffect, useState } from "preact/hooks";
import { rich, t } from "../language";
import { at } from "../prefix";
import { follow } from "../router";
import { useApp } from "../state/AppProvider";
import type { Message } from "../types";
import { Button, RetryIcon, Spinner, WarnIcon } from "../ui";
import type { SessionView } from "./session/useSession";
import { statusText } from "./statusText";

export function Notices({ sessionView }: { sessionView: SessionView }) {
  const { session, about, lost, problem, needsKey, remedy, live, messages, status } = sessionView;
  const { me } = useApp();
  const online = useOnline();
  const answer = { status, running: about?.running ?? false, problem, last: messages.at(-1) };
  const writing = lost ? t("chat.lost") : statusText(answer);
  return (
    <>
      <p className="unseen" role="status">
        {writing}
      </p>
      {lost || !online ? (
        <p className="notice notice-warn">
          <Spinner />
          <span>{online ? t("chat.lostText") : t("chat.offlineText")}</span>
        </p>
      ) : (
        problem && (
          <div className={`notice notice-bad ${isReason(problem, messages.at(-1)) ? "notice-answer" : ""}`} role="alert">
            <WarnIcon />
            <div>
              <p>{problem}</p>
              {needsKey && me?.keys && <p>{rich("chat.enterKey", { link: (words) => <a href={at("/settings")} onClick={follow}>{words}</a> })}</p>}
              {remedy === "back" && <p>{t("chat.backInBox")}</p>}
            </div>
            {remedy === "again" && (
              <Button onClick={() => session.regenerate()}>
                <RetryIcon size={16} /> {t("page.tryAgain")}
              </Button>
            )}
          </div>
        )
      )}
      {!lost && live.isWorkerLost && (
        <p className="notice notice-warn">
          <Spinner />
          <span>{t("chat.workerLost")}</span>
        </p>
      )}
      {!lost && live.retry && (
        <p className="notice">
          <Spinner />
          <span>{t("chat.retry", { reason: live.retry.reason, seconds: Math.floor(live.retry.seconds) })}</span>
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

/** Whether an error is the stored reason of an answer, which may have the status before it. */
function isReason(problem: string, last: Message | undefined): boolean {
  const reason = last?.metadata?.reason;
  return Boolean(reason) && problem.endsWith(reason ?? "");
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
