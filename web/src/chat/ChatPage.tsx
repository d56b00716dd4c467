// Loads the conversation of the current URL, or starts a new one.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { t } from "../language";
import type { ViewProps } from "../viewProps";
import { Problem } from "../pages/Problem";
import { go, here, pathOf } from "../router";
import { useLoaded } from "../state/loading";
import { Bar } from "./Bar";
import { newId } from "./session/client";
import { loadNewest, NEWEST } from "./session/stored";
import { ConversationView, MessageList } from "./ConversationView";

/** Conversations created on this page, by id. Their view stays mounted when the URL changes to the new id. */
const born = new Map<string, string>();

export function ChatPage({ id, ...view }: ViewProps & { id: string | null }) {
  const [round, setRound] = useState(0);
  const fresh = useMemo(newId, [round, id === null]);
  /** Key of the new conversation that is mounted, if any. */
  const present = useRef<string | null>(null);
  useEffect(() => {
    // "New chat" on a new conversation: remount it.
    const anew = (event: Event) => (event as CustomEvent<string>).detail === "/" && setRound((before) => before + 1);
    window.addEventListener("same-place", anew);
    return () => window.removeEventListener("same-place", anew);
  }, []);
  const key = id === null ? fresh : (born.get(id) ?? id);
  if (id === null) present.current = fresh;
  else if (present.current !== key) present.current = null;
  const onNamed = (named: string) => {
    born.set(named, key);
    if (here() === "/") go(pathOf(named), true);
  };
  if (id === null || present.current === key) {
    return <ConversationView key={key} chatId={key} stored={null} onNamed={onNamed} {...view} />;
  }
  return <Stored key={key} id={id} chatId={key} {...view} />;
}

function Stored({ id, chatId, ...view }: ViewProps & { id: string; chatId: string }) {
  const loaded = useLoaded(id, async (signal) => (await Promise.all([loadNewest(id, NEWEST, signal), MessageList.preload()]))[0]);
  if (loaded.value) return <ConversationView chatId={chatId} stored={loaded.value} onNamed={() => {}} {...view} />;
  return (
    <>
      <Bar {...view} />
      {loaded.error ? <Missing error={loaded.error} again={loaded.again} /> : <Ghost />}
    </>
  );
}

function Missing({ error, again }: { error: { status: number; text: string }; again: () => void }) {
  if (error.status !== 404) return <Problem problem={error} again={again} />;
  return <Problem problem={{ text: t("chat.notFound") }} again={() => go("/")} words={t("page.startNew")} />;
}

/** Placeholder while the conversation is loading. */
function Ghost() {
  return (
    <div className="ghost" role="status" aria-label={t("chat.loading")}>
      <span className="ghost-line ghost-mine" />
      <span className="ghost-line" />
      <span className="ghost-line" />
      <span className="ghost-line ghost-short" />
    </div>
  );
}
