// The messages that wait to be sent, above the composer.
import "./queue.css";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { SessionView } from "../chat/session/useSession";
import { t } from "../language";
import { showError } from "../state/showError";
import { loadQueue, type Queue } from "./pending";
import { QueuedMessage } from "./QueuedMessage";
import { tellTabs } from "./queueMessage";

/** Milliseconds between two looks while the server should send the next message. */
const pace = 3000;

export function QueuePanel({ sessionView }: { sessionView: SessionView }) {
  const { session, about, busy } = sessionView;
  const id = about?.id ?? "";
  const [queue, setQueue] = useState<Queue | null>(null);
  const list = useRef<HTMLUListElement>(null);
  const requests = useRef(0);
  const latest = useRef(sessionView);
  latest.current = sessionView;
  const load = useCallback(async () => {
    const mine = ++requests.current;
    try {
      const found = await loadQueue(id);
      if (mine !== requests.current) return;
      setQueue(found);
      const { about, busy, session } = latest.current;
      if (!busy && found.pending.length < (about?.pending ?? 0)) void session.refreshQuietly(); // one was sent meanwhile
    } catch (error) {
      showError(error);
    }
  }, [id]);
  useEffect(() => void load(), [load, about, busy]);
  const isNext = Boolean(queue?.pending.length && !queue.hold && !queue.pending[0]?.problem && !busy);
  useEffect(() => {
    if (!isNext) return;
    const timer = setInterval(() => document.visibilityState === "visible" && void session.refreshQuietly(), pace);
    return () => clearInterval(timer);
  }, [isNext, session]);

  /** What changed elsewhere is shown, whether the change was accepted or not. */
  const changed = async (isGone = false) => {
    tellTabs(session, id);
    await load();
    if (isGone) (list.current?.querySelector<HTMLElement>("button") ?? document.querySelector<HTMLElement>(".composer-text"))?.focus();
  };
  if (!queue?.pending.length) return null;
  return (
    <section className="queue" aria-labelledby="queue-title">
      <div className="queue-title" role="status">
        <h2 id="queue-title">{t("queue.title", { count: queue.pending.length })}</h2>
        {queue.hold && !busy && <p>{t(`queue.hold.${queue.hold}`)}</p>}
      </div>
      <ul ref={list}>
        {queue.pending.map((message, index) => (
          <QueuedMessage key={message.id} message={message} conversation={id} index={index} busy={busy} onChange={changed} />
        ))}
      </ul>
    </section>
  );
}
