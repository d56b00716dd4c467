// The message composer: a growing text box, files, file references, send and stop.
import type { RefObject } from "preact";
import { useCallback, useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { SessionView } from "../chat/session/useSession";
import { UploadTray, useUploads } from "../files";
import { lazy } from "../files/lazy";
import { outcomeOf } from "../files/uploads/outcome";
import { t } from "../language";
import { findModel } from "../models/findModel";
import { useApp } from "../state/AppProvider";
import { touches } from "../state/media";
import { pause } from "../state/pause";
import { loadPart } from "../state/parts";
import { DownIcon, IconButton, SendIcon, StopIcon } from "../ui";
import { Attaching } from "./Attaching";
import { DropZone } from "./DropZone";
import { keptDraft, keepDraft, openBox } from "./drafts";
import { Suggestions } from "./Suggestions";
import { isSending } from "./sending";
import { useSuggestions } from "./useSuggestions";

const hears = "SpeechRecognition" in window || "webkitSpeechRecognition" in window;
/** Loaded once the start of the page is over. */
const Voice = lazy(() => import("./Voice").then((found) => found.Voice), { after: () => pause(3000), onLost() {} });
const FromAddress = lazy(() => import("./FromAddress").then((found) => found.FromAddress));
const QueuePanel = lazy(() => import("../queue/QueuePanel").then((found) => found.QueuePanel));

export type ComposerHandle = {
  /** Inserts text at the cursor. */
  insert: (text: string) => void;
  /** Attaches a file to the next message. */
  attach: (file: File) => void;
};

type Props = {
  handle: RefObject<ComposerHandle | null>;
  /** Key of the draft that survives a reload. */
  place: string;
  /** The selected model. */
  model: string | null;
  sessionView: SessionView;
  readOnly: boolean;
  away: boolean;
  onDown: () => void;
};

export function Composer({ handle, place, model, sessionView, readOnly, away, onDown }: Props) {
  const { me, models } = useApp();
  const selected = findModel(models, model);
  const { session, busy } = sessionView;
  const [text, setText] = useState(() => keptDraft(place));
  const [isAddressing, setAddressing] = useState(false);
  const latest = useRef(text);
  const box = useRef<HTMLTextAreaElement>(null);
  const uploads = useUploads(me?.limits, place);
  const write = useCallback(
    (next: string) => {
      latest.current = next;
      setText(next);
      keepDraft(place, next);
    },
    [place],
  );
  useDraftMoves(place, text);
  useEffect(() => openBox(place, { text: () => latest.current, write }), [place, write]);
  const replace = useCallback(
    (from: number, to: number, words: string) => {
      const element = box.current;
      if (!element) return;
      element.setRangeText(words, from, to, "end");
      write(element.value);
      element.focus();
    },
    [write],
  );
  const suggestions = useSuggestions(box, session.fileStore.byNumber, replace);

  useImperativeHandle(
    handle,
    () => ({
      insert: (words) => {
        const at = box.current?.selectionStart ?? 0;
        const to = box.current?.selectionEnd ?? at;
        const before = box.current?.value.slice(0, at) ?? "";
        replace(at, to, `${before && !/\s$/.test(before) ? " " : ""}${words} `);
      },
      attach: (file) => {
        uploads.add([file], "picker");
        box.current?.focus();
      },
    }),
    [replace, place],
  );
  useGrowth(box, text);
  useEffect(() => {
    if (!touches) box.current?.focus({ preventScroll: true });
  }, []);

  const isRed = uploads.items.some((one) => one.problem || (one.attachment && outcomeOf(one.attachment, selected)?.isRefused));
  const isWritten = Boolean(text.trim() || uploads.attachments.length);
  const ready = isWritten && uploads.ready && !isRed && (!busy || sessionView.id) && !sessionView.lost;
  const send = async () => {
    if (!ready) return;
    const [words, attachments] = [text.trim(), uploads.attachments];
    const queue = busy && (await loadPart(() => import("../queue/queueMessage")));
    if (latest.current.trim() !== words) return; // it was changed, or sent, meanwhile
    write("");
    uploads.clear();
    if (queue) void queue.queueMessage(session, model, words, attachments);
    else session.send(words, attachments);
  };
  const hint = isRed
    ? t("composer.hintRed")
    : busy
      ? t("composer.hintBusy")
      : uploads.ready
        ? t(touches ? "composer.hintTouch" : "composer.hint")
        : t("composer.uploading");
  const onKeyDown = (event: KeyboardEvent) => {
    if (suggestions.onKeyDown(event)) return;
    if (!isSending(event)) return;
    event.preventDefault();
    void send();
  };
  const onPaste = (event: ClipboardEvent) => {
    const files = event.clipboardData?.files;
    if (!files?.length) return;
    // A copied table is on the clipboard as text and as an image; paste the text.
    if (event.clipboardData?.getData("text/plain")) return;
    event.preventDefault();
    uploads.add(files, "paste");
  };
  if (readOnly) return <p className="composer-note">{t("composer.readOnly")}</p>;
  return (
    <div className="composer">
      {away && <IconButton className="to-end" label={t("composer.toEnd")} icon={<DownIcon />} onClick={onDown} />}
      <DropZone onFiles={(files) => uploads.add(files, "drop")} />
      {isAddressing && (
        <FromAddress
          onClose={() => setAddressing(false)}
          onAttach={(name, job) => {
            uploads.addJob(name, job);
            box.current?.focus();
          }}
        />
      )}
      {sessionView.about?.pending ? <QueuePanel sessionView={sessionView} /> : null}
      <form
        className="composer-box"
        aria-label={t("composer.form")}
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
        onKeyDown={(event) => event.key === "Escape" && !event.defaultPrevented && busy && void session.stop()}
      >
        {suggestions.items.length > 0 && <Suggestions suggestions={suggestions} />}
        <UploadTray uploads={uploads} model={selected} />
        <textarea
          ref={box}
          className="composer-text"
          aria-label={t("composer.message")}
          aria-autocomplete="list"
          aria-controls={suggestions.items.length ? "offers" : undefined}
          aria-activedescendant={suggestions.items.length ? `offer-${suggestions.at}` : undefined}
          placeholder={t("composer.placeholder")}
          rows={1}
          value={text}
          onInput={(event) => {
            write(event.currentTarget.value);
            suggestions.look();
          }}
          onKeyDown={onKeyDown}
          onKeyUp={(event) => /^(Arrow(Left|Right)|Home|End)$/.test(event.key) && suggestions.look()}
          onClick={suggestions.look}
          onBlur={suggestions.close}
          onPaste={onPaste}
        />
        <div className="composer-row">
          <Attaching
            onFiles={(files, from) => {
              uploads.add([...files], from);
              box.current?.focus();
            }}
            onAddress={me?.addresses ? () => setAddressing(true) : undefined}
          />
          <span className={`composer-hint ${isRed ? "composer-red" : ""}`}>{hint}</span>
          {hears && <Voice box={box} text={text} write={write} />}
          {busy && isWritten && <IconButton className="send" type="submit" label={t("composer.queue")} icon={<SendIcon />} disabled={!ready} />}
          {busy ? (
            <IconButton className="send stop" label={t("composer.stop")} icon={<StopIcon />} onClick={() => void session.stop()} />
          ) : (
            <IconButton className="send" type="submit" label={t("composer.send")} icon={<SendIcon />} disabled={!ready} />
          )}
        </div>
      </form>
    </div>
  );
}

/** Fits the height to the text, up to the style sheet's maximum. */
function useGrowth(box: RefObject<HTMLTextAreaElement | null>, text: string) {
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${element.scrollHeight}px`;
  }, [text]);
}

/** A new conversation may get its id while the next message is being typed; the draft moves with it. */
function useDraftMoves(place: string, text: string) {
  const before = useRef(place);
  useEffect(() => {
    if (before.current === place) return;
    keepDraft(before.current, "");
    keepDraft(place, text);
    before.current = place;
  }, [place, text]);
}
