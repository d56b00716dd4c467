// A conversation: its messages and the composer.
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { BRAND, t } from "../language";
import type { ViewProps } from "../viewProps";
import { Composer, type ComposerHandle } from "../composer/Composer";
import { placeOf } from "../composer/drafts";
import type { Attachment } from "../files";
import { FilesProvider } from "../files/context";
import { lazy } from "../files/lazy";
import { MessageList } from "../messages/MessageList";
import { ModelPicker } from "../models/ModelPicker";
import { useApp } from "../state/AppProvider";
import { ShareButton } from "../sharing/ShareButton";
import { notify } from "../state/list";
import type { Conversation } from "../types";
import { Bar } from "./Bar";
import { FileStoreContext } from "./session/fileStore";
import { LiveContext } from "./session/liveStatus";
import { Earlier } from "./Earlier";
import { Notices } from "./Notices";
import { useKeptPlace } from "./useKeptPlace";
import { useStickiness } from "./useScrollPosition";
import { SessionContext, useSession } from "./session/useSession";
import { Welcome } from "./Welcome";

const Removal = lazy(() => import("../files/Removal").then((found) => found.Removal));

type Props = ViewProps & { chatId: string; stored: Conversation | null; onNamed: (id: string) => void };

export function ConversationView({ chatId, stored, onNamed, ...view }: Props) {
  const app = useApp();
  const [chosen, setChosen] = useState<string | null>(stored?.model ?? null);
  const model = chosen ?? app.model;
  const composer = useRef<ComposerHandle>(null);
  const scroll = useStickiness(stored === null);
  const sessionView = useSession({
    chatId,
    stored,
    model,
    onAsked: scroll.toQuestion,
    onNamed: (id) => {
      onNamed(id);
      notify({ what: "list" });
    },
  });
  const { session, messages, about } = sessionView;
  const right = about?.right ?? "owner"; // default for a new conversation
  const mayWrite = right !== "reader";
  const insertReference = useCallback((text: string) => composer.current?.insert(text), []);
  const attach = useCallback((file: File) => composer.current?.attach(file), []);
  const [removing, remove] = useState<Attachment | null>(null);
  const asks = messages.at(-1)?.role === "user";
  useLayoutEffect(() => {
    if (asks) scroll.toQuestion(); // the question may come from another tab
  }, [asks, messages.length]);
  useKeptPlace(scroll.box, messages);
  useLayoutEffect(scroll.follow, [messages]);
  const title = about?.title ?? null;
  useEffect(() => {
    document.title = title ? t("page.title", { title }) : BRAND;
  }, [title]);
  const empty = messages.length === 0;

  return (
    <SessionContext.Provider value={session}>
      <FileStoreContext.Provider value={session.fileStore}>
        <FilesProvider
          files={session.fileStore.byNumber}
          insertReference={mayWrite ? insertReference : null}
          attach={mayWrite ? attach : null}
          remove={right === "owner" ? remove : null}
        >
          <Bar {...view}>
            {mayWrite && <ModelPicker chosen={model} onChoose={setChosen} />}
            {!empty && <h1 className={title ? "bar-title" : "unseen"}>{title ?? t("sidebar.untitled")}</h1>}
            {about && app.me?.mode === "accounts" && <ShareButton conversation={about} />}
          </Bar>
          <div className={`talk ${empty ? "talk-empty" : ""}`} ref={scroll.box} onScroll={scroll.onScroll}>
            <div className="column" ref={scroll.content}>
              <LiveContext.Provider value={sessionView.live}>
                <Earlier sessionView={sessionView} box={scroll.box} />
                {empty ? mayWrite && <Welcome model={model} onExample={session.send} /> : <MessageList sessionView={sessionView} mayWrite={mayWrite} />}
              </LiveContext.Provider>
              <Notices sessionView={sessionView} />
            </div>
          </div>
          <Composer
            handle={composer}
            place={placeOf(sessionView.id)}
            model={model}
            sessionView={sessionView}
            readOnly={!mayWrite}
            away={!empty && scroll.away}
            onDown={scroll.toEnd}
          />
          {removing && (
            <Removal file={removing} onDeleted={(file) => session.fileStore.add([file])} onClose={() => remove(null)} />
          )}
        </FilesProvider>
      </FileStoreContext.Provider>
    </SessionContext.Provider>
  );
}
