// A conversation: its messages and the composer.
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { BRAND, t } from "../language";
import type { ViewProps } from "../viewProps";
import { Composer, type ComposerHandle } from "../composer/Composer";
import { placeOf } from "../composer/drafts";
import type { Attachment } from "../files";
import type { Pair } from "../examples/PairRun";
import { FilesProvider } from "../files/context";
import { lazy } from "../files/lazy";
import { isInspector } from "../models/findModel";
import { ModelPicker } from "../models/ModelPicker";
import { useApp } from "../state/AppProvider";
import { ShareButton } from "../sharing/ShareButton";
import { notify } from "../state/list";
import type { Conversation } from "../types";
import { GearIcon, IconButton } from "../ui";
import { Bar } from "./Bar";
import { FileStoreContext } from "./session/fileStore";
import { LiveContext } from "./session/liveStatus";
import { Earlier } from "./Earlier";
import { Notices } from "./Notices";
import { hasPlace, usePlace } from "./usePlace";
import { useKeptPlace } from "./useKeptPlace";
import { useStickiness } from "./useScrollPosition";
import { SessionContext, useSession } from "./session/useSession";
import { Welcome } from "./Welcome";

/** Not needed by the start page, and loaded there once somebody begins to write or to choose. */
export const MessageList = lazy(() => import("../messages/MessageList").then((found) => found.MessageList));
for (const event of ["pointerdown", "keydown"]) addEventListener(event, () => void (navigator.onLine && MessageList.preload()), { once: true });

const OwnSettings = lazy(() => import("../ownSettings/OwnSettings").then((found) => found.OwnSettings));
const PairRun = lazy(() => import("../examples/PairRun").then((found) => found.PairRun));
const Removal = lazy(() => import("../files/Removal").then((found) => found.Removal));

type Props = ViewProps & { chatId: string; stored: Conversation | null; onNamed: (id: string) => void };

export function ConversationView({ chatId, stored, onNamed, ...view }: Props) {
  const app = useApp();
  const [chosen, setChosen] = useState<string | null>(null);
  const [own, setOwn] = useState(stored?.settings ?? null);
  const [isSetting, setSetting] = useState(false);
  const model = chosen ?? own?.model ?? stored?.model ?? app.model;
  const composer = useRef<ComposerHandle>(null);
  const scroll = useStickiness(stored === null || hasPlace());
  const sessionView = useSession({
    chatId,
    stored,
    wishes: { model, ...(stored ? {} : { settings: own }) },
    onAsked: scroll.toQuestion,
    onNamed: (id) => {
      onNamed(id);
      notify({ what: "list" });
    },
  });
  const { session, messages, about, status } = sessionView;
  const used = useRef<string | null>(null);
  useEffect(() => {
    if (status !== "streaming" || model === used.current || model === app.model || isInspector(model)) return;
    used.current = model;
    app.reloadModels(); // it may be the model of the next conversation
  }, [status]);
  useEffect(() => void (about && setOwn(about.settings)), [about]);
  const right = about?.right ?? "owner"; // default for a new conversation
  const mayWrite = right !== "reader";
  const insertReference = useCallback((text: string) => composer.current?.insert(text), []);
  const attach = useCallback((file: File) => composer.current?.attach(file), []);
  const [pair, setPair] = useState<Pair | null>(null);
  const onExample = (text: string, attachments: Attachment[], [first, second]: string[]) =>
    first && second ? setPair({ text, attachments, models: [first, second] }) : session.send(text, attachments);
  const [removing, remove] = useState<Attachment | null>(null);
  const asks = messages.at(-1)?.role === "user";
  useLayoutEffect(() => {
    if (asks) scroll.toQuestion(); // the question may come from another tab
  }, [asks, messages.length]);
  usePlace(session, scroll.stay);
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
            {right === "owner" && (
              <IconButton label={t("ownSettings.title")} aria-haspopup="dialog" icon={<GearIcon />} onClick={() => setSetting(true)} />
            )}
            {!empty && <h1 className={title ? "bar-title" : "unseen"}>{title ?? t("sidebar.untitled")}</h1>}
            {about && app.me?.mode === "accounts" && <ShareButton conversation={about} />}
          </Bar>
          <div className={`talk ${empty ? "talk-empty" : ""}`} ref={scroll.box} onScroll={scroll.onScroll}>
            <div className="column" ref={scroll.content}>
              <LiveContext.Provider value={sessionView.live}>
                <Earlier sessionView={sessionView} box={scroll.box} />
                {empty ? mayWrite && <Welcome model={model} onExample={onExample} /> : <MessageList sessionView={sessionView} mayWrite={mayWrite} />}
              </LiveContext.Provider>
              <Notices sessionView={sessionView} />
            </div>
          </div>
          {(own || isSetting) && (
            <OwnSettings
              id={sessionView.id}
              own={own}
              model={model}
              open={isSetting}
              onOpen={setSetting}
              onSaved={(saved) => {
                setOwn(saved);
                if (saved?.model) setChosen(null);
              }}
            />
          )}
          <Composer
            handle={composer}
            place={placeOf(sessionView.id)}
            model={model}
            sessionView={sessionView}
            readOnly={!mayWrite}
            away={!empty && scroll.away}
            onDown={scroll.toEnd}
          />
          {pair && (
            <PairRun pair={pair} model={model} choose={setChosen} sessionView={sessionView} onDone={() => setPair(null)} />
          )}
          {removing && (
            <Removal file={removing} onDeleted={(file) => session.fileStore.add([file])} onClose={() => remove(null)} />
          )}
        </FilesProvider>
      </FileStoreContext.Provider>
    </SessionContext.Provider>
  );
}
