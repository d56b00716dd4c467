// A conversation: its messages, and the box in which the next one is written.
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ViewProps } from "../App";
import { wordsOf } from "../api";
import { Composer, type ComposerHandle } from "../composer/Composer";
import { FilesProvider } from "../files/context";
import { MessageList } from "../messages/MessageList";
import { ModelPicker } from "../models/ModelPicker";
import { useHouse } from "../state/House";
import { tell } from "../state/list";
import type { Conversation, Message } from "../types";
import { toast } from "../ui";
import { Bar } from "./Bar";
import { FilingContext } from "./filing";
import { LiveContext } from "./live";
import { Notices } from "./Notices";
import { TalkContext } from "./talking";
import { useConversation } from "./useConversation";
import { useStickiness } from "./useStickiness";
import { Welcome } from "./Welcome";

type Props = ViewProps & { chatId: string; stored: Conversation | null; onNamed: (id: string) => void };

export function ConversationView({ chatId, stored, onNamed, ...view }: Props) {
  const house = useHouse();
  const [chosen, setChosen] = useState<string | null>(stored?.model ?? null);
  const model = chosen ?? house.model;
  const composer = useRef<ComposerHandle>(null);
  const named = useCallback((id: string) => {
    onNamed(id);
    tell({ what: "list" });
  }, []);
  const talk = useConversation({
    chatId,
    stored,
    model,
    onNamed: named,
    onReturned: (text) => composer.current?.put(text),
  });
  const scroll = useStickiness();
  const insertReference = useCallback((text: string) => composer.current?.insert(text), []);
  const actions = useActions(talk, scroll.toEnd);
  const title = talk.about?.title ?? null;
  useEffect(() => {
    document.title = title ? `${title} – Show & Tell` : "Show & Tell";
  }, [title]);
  const empty = talk.messages.length === 0;
  const reads = talk.about?.right === "reader";

  return (
    <TalkContext.Provider value={actions}>
      <LiveContext.Provider value={talk.live}>
        <FilingContext.Provider value={talk.filing}>
        <FilesProvider files={talk.filing.byNumber} insertReference={insertReference}>
          <Bar {...view}>
            <ModelPicker chosen={model} onChoose={setChosen} />
            {!empty && <h1 className={title ? "bar-title" : "unseen"}>{title ?? "Conversation"}</h1>}
          </Bar>
          <div className={`talk ${empty ? "talk-empty" : ""}`} ref={scroll.box} onScroll={scroll.onScroll}>
            <div className="column" ref={scroll.content}>
              {empty ? (
                <Welcome onExample={(text, attachments) => void actions.send(text, attachments)} />
              ) : (
                <MessageList talk={talk} />
              )}
              <Notices talk={talk} />
            </div>
          </div>
          <Composer
            key={chatId}
            handle={composer}
            place={talk.id ?? "new"}
            talk={talk}
            readOnly={reads}
            away={scroll.away}
            onDown={scroll.toEnd}
            onSend={actions.send}
          />
        </FilesProvider>
        </FilingContext.Provider>
      </LiveContext.Provider>
    </TalkContext.Provider>
  );
}

/** The same functions for as long as the conversation is shown, so that messages needn't be drawn again for them. */
function useActions(talk: ReturnType<typeof useConversation>, toEnd: () => void) {
  const latest = useRef(talk);
  latest.current = talk;
  return useMemo(
    () => ({
      async send(text: string, attachments: Parameters<typeof talk.send>[1]) {
        const sent = latest.current.send(text, attachments);
        requestAnimationFrame(toEnd);
        await sent;
      },
      regenerate: (message: Message) => void latest.current.regenerate(message),
      edit: (message: Message, text: string) => void latest.current.edit(message, text),
      branch: (id: string) => void latest.current.branch(id).catch((error) => toast(wordsOf(error), "bad")),
      answer: (id: string, approved: boolean) => void latest.current.answer(id, approved),
    }),
    [],
  );
}
