// The box in which a message is written: text that grows, files, references to files, send and stop.
import type { RefObject } from "preact";
import { useCallback, useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Talked } from "../chat/session/useSession";
import { UploadTray, useUploads } from "../files";
import { outcomeOf } from "../files/uploads/outcome";
import { findModel } from "../models/findModel";
import { useHouse } from "../state/House";
import { touches } from "../state/media";
import { DownIcon, IconButton, SendIcon, StopIcon } from "../ui";
import { Attaching } from "./Attaching";
import { DropZone } from "./DropZone";
import { keptDraft, keepDraft, openBox } from "./drafts";
import { Offers } from "./Offers";
import { isSending } from "./sending";
import { useOffers } from "./useOffers";

export type ComposerHandle = {
  /** Writes a reference at the cursor. */
  insert: (text: string) => void;
};

type Props = {
  handle: RefObject<ComposerHandle | null>;
  /** Under which name an unsent text is kept over a reload. */
  place: string;
  /** Who is asked next. */
  model: string | null;
  talked: Talked;
  readOnly: boolean;
  away: boolean;
  onDown: () => void;
};

const usual = touches ? "@ offers files" : "Enter sends, Shift+Enter starts a line, @ offers files";

export function Composer({ handle, place, model, talked, readOnly, away, onDown }: Props) {
  const { me, models } = useHouse();
  const asked = findModel(models, model);
  const { talk } = talked;
  const [text, setText] = useState(() => keptDraft(place));
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
  const offers = useOffers(box, talk.filing.byNumber, replace);

  useImperativeHandle(
    handle,
    () => ({
      insert: (words) => {
        const at = box.current?.selectionStart ?? 0;
        const to = box.current?.selectionEnd ?? at;
        const before = box.current?.value.slice(0, at) ?? "";
        replace(at, to, `${before && !/\s$/.test(before) ? " " : ""}${words} `);
      },
    }),
    [replace],
  );
  useGrowth(box, text);
  useEffect(() => {
    if (!touches) box.current?.focus({ preventScroll: true });
  }, []);

  const isRed = uploads.items.some((one) => one.problem || (one.attachment && outcomeOf(one.attachment, asked)?.isRefused));
  const isWritten = Boolean(text.trim() || uploads.attachments.length);
  const ready = isWritten && uploads.ready && !isRed && !talked.busy && !talked.lost;
  const send = () => {
    if (!ready) return;
    const [words, attachments] = [text.trim(), uploads.attachments];
    write("");
    uploads.clear();
    talk.send(words, attachments);
  };
  const hint = isRed
    ? "Remove what is red, or try again"
    : talked.busy
      ? "Stop first (Esc), or wait"
      : uploads.ready
        ? usual
        : "Uploading…";
  const onKeyDown = (event: KeyboardEvent) => {
    if (offers.onKeyDown(event)) return;
    if (!isSending(event)) return;
    event.preventDefault();
    send();
  };
  const onPaste = (event: ClipboardEvent) => {
    const files = event.clipboardData?.files;
    if (!files?.length) return;
    // A copied table comes as text and as a picture of it: the text is meant.
    if (event.clipboardData?.getData("text/plain")) return;
    event.preventDefault();
    uploads.add(files, "paste");
  };
  if (readOnly) return <p className="composer-note">This conversation was shared with you to read.</p>;
  return (
    <div className="composer">
      {away && <IconButton className="to-end" label="Go to the newest message" icon={<DownIcon />} onClick={onDown} />}
      <DropZone onFiles={(files) => uploads.add(files, "drop")} />
      <form
        className="composer-box"
        aria-label="Write a message"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
        onKeyDown={(event) => event.key === "Escape" && !event.defaultPrevented && talked.busy && void talk.stop()}
      >
        {offers.items.length > 0 && <Offers offers={offers} />}
        <UploadTray uploads={uploads} model={asked} />
        <textarea
          ref={box}
          className="composer-text"
          aria-label="Message"
          aria-autocomplete="list"
          aria-controls={offers.items.length ? "offers" : undefined}
          aria-activedescendant={offers.items.length ? `offer-${offers.at}` : undefined}
          placeholder="Ask about anything you can show…"
          rows={1}
          value={text}
          onInput={(event) => {
            write(event.currentTarget.value);
            offers.look();
          }}
          onKeyDown={onKeyDown}
          onKeyUp={(event) => /^(Arrow(Left|Right)|Home|End)$/.test(event.key) && offers.look()}
          onClick={offers.look}
          onBlur={offers.close}
          onPaste={onPaste}
        />
        <div className="composer-row">
          <Attaching
            onFiles={(files, from) => {
              uploads.add([...files], from);
              box.current?.focus();
            }}
          />
          <span className={`composer-hint ${isRed ? "composer-red" : ""}`}>{hint}</span>
          {talked.busy ? (
            <IconButton className="send stop" label="Stop" icon={<StopIcon />} onClick={() => void talk.stop()} />
          ) : (
            <IconButton className="send" type="submit" label="Send" icon={<SendIcon />} disabled={!ready} />
          )}
        </div>
      </form>
    </div>
  );
}

/** As high as its text, up to the height that the style sheet allows. */
function useGrowth(box: RefObject<HTMLTextAreaElement | null>, text: string) {
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${element.scrollHeight}px`;
  }, [text]);
}

/** A new conversation gets its name while the next message may be begun already: the draft goes along. */
function useDraftMoves(place: string, text: string) {
  const before = useRef(place);
  useEffect(() => {
    if (before.current === place) return;
    keepDraft(before.current, "");
    keepDraft(place, text);
    before.current = place;
  }, [place, text]);
}
