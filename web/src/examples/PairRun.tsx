// Asks two models the same, one after the other as two versions of the answer, and shows side by side what each was given.
import { useEffect, useRef, useState } from "preact/hooks";
import type { SessionView } from "../chat/session/useSession";
import type { Attachment } from "../files";
import type { Message } from "../types";
import { SideBySide } from "./SideBySide";

/** A message for two models. */
export type Pair = { text: string; attachments: readonly Attachment[]; models: readonly [string, string] };

type Props = {
  pair: Pair;
  model: string | null;
  choose: (model: string | null) => void;
  sessionView: SessionView;
  onDone: () => void;
};

export function PairRun({ pair, model, choose, sessionView, onDone }: Props) {
  const { session, messages, busy } = sessionView;
  const [first, second] = pair.models;
  const step = useRef<"choose" | "ask" | "again" | "shown">("choose");
  const before = useRef<Message | null>(null);
  const [shown, setShown] = useState<readonly [Message, Message] | null>(null);
  const end = () => {
    choose(null);
    onDone();
  };
  useEffect(() => {
    if (step.current === "choose") {
      if (model !== first) return choose(first);
      step.current = "ask";
      return session.send(pair.text, pair.attachments);
    }
    const answer = messages.at(-1);
    const isEnded = !busy && answer?.role === "assistant" && answer.metadata?.status !== undefined;
    if (!isEnded || step.current === "shown") return;
    if (answer.metadata?.status !== "complete") return end(); // the answer says why
    if (step.current === "ask") {
      before.current = structuredClone(answer);
      if (model !== second) return choose(second);
      step.current = "again";
      return session.regenerate(answer);
    }
    if (answer.metadata.model !== second || !before.current) return;
    step.current = "shown";
    setShown([before.current, answer]);
  }, [busy, messages, model]);
  return shown && <SideBySide answers={shown} onClose={end} />;
}
