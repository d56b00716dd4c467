// Voice input: the browser hears, and its words go into the message at the cursor.
import "./voice.css";
import type { RefObject } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type PlainKey, t } from "../language";
import { spoken } from "../language/language";
import { touches } from "../state/media";
import { Button, Dialog, Icon, IconButton, toast } from "../ui";
import { keptVoiceLanguage, makeRecognition, makeWriter, type Recognition } from "./speech";

type Props = {
  box: RefObject<HTMLTextAreaElement | null>;
  text: string;
  write: (text: string) => void;
};

/** Whether the user knows where the sound may go. */
const NOTE_READ = "showandtell.voice.read";

/** "aborted" is the end of a page or a message, and no error. */
const ERRORS: Record<string, PlainKey | null> = {
  "aborted": null,
  "no-speech": "voice.nothing",
  "network": "voice.network",
  "audio-capture": "voice.noMicrophone",
  "not-allowed": "voice.notAllowed",
  "service-not-allowed": "voice.notAllowed",
  "language-not-supported": "voice.language",
};

export function Voice({ box, text, write }: Props) {
  const current = useRef<Recognition | null>(null);
  const [isOn, turn] = useState(false);
  const [isAsking, ask] = useState(false);
  const stop = useCallback(() => current.current?.stop(), []);
  const close = useCallback(() => {
    const recognition = current.current;
    current.current = null;
    turn(false);
    recognition?.abort();
  }, []);
  const begin = () => {
    const [recognition, element] = [makeRecognition(), box.current];
    if (!recognition || !element || current.current) return;
    recognition.lang = keptVoiceLanguage() ?? spoken().locale;
    recognition.interimResults = true;
    recognition.continuous = !touches; // Android repeats itself otherwise
    const insert = makeWriter(element, recognition.lang);
    recognition.onresult = ({ results }) => {
      if (current.current !== recognition) return;
      insert(results);
      write(element.value);
    };
    recognition.onerror = ({ error }) => {
      const words = error in ERRORS ? ERRORS[error] : "voice.failed";
      if (words) toast(t(words), "bad");
    };
    recognition.onend = () => {
      if (current.current !== recognition) return;
      current.current = null;
      turn(false);
      if (!touches) element.focus();
    };
    current.current = recognition;
    turn(true);
    try {
      recognition.start();
    } catch {
      close();
      toast(t("voice.failed"), "bad");
    }
  };
  const toggle = () => {
    if (current.current) stop();
    else if (localStorage.getItem(NOTE_READ)) begin();
    else ask(true);
  };
  useEffect(() => close, []);
  // The message was sent: what is still being heard doesn't belong to the next one.
  const hadText = useRef(false);
  useEffect(() => {
    if (hadText.current && !text) close();
    hadText.current = Boolean(text);
  }, [text]);
  useEffect(() => {
    if (!isOn) return;
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      event.preventDefault(); // it doesn't stop the answer as well
      event.stopPropagation();
      stop();
    };
    window.addEventListener("keydown", onKey, true);
    return () => window.removeEventListener("keydown", onKey, true);
  }, [isOn]);
  return (
    <>
      <span className="unseen" role="status">
        {isOn && t("voice.listening")}
      </span>
      <IconButton
        className={isOn ? "voice voice-on" : "voice"}
        label={t(isOn ? "voice.stop" : "voice.start")}
        icon={<MicrophoneIcon />}
        onClick={toggle}
      />
      {/* Esc closes the dialog, and stops no answer. */}
      <div onKeyDown={(event) => event.stopPropagation()}>
        <Dialog open={isAsking} onClose={() => ask(false)} title={t("voice.title")}>
          <p>{t("voice.about")}</p>
          <div className="dialog-actions">
            <Button onClick={() => ask(false)}>{t("page.cancel")}</Button>
            <Button
              look="main"
              onClick={() => {
                localStorage.setItem(NOTE_READ, "1");
                ask(false);
                begin();
              }}
            >
              {t("voice.begin")}
            </Button>
          </div>
        </Dialog>
      </div>
    </>
  );
}

const MicrophoneIcon = () => (
  <Icon>
    <path d="M12 3.5a3 3 0 0 0-3 3v5a3 3 0 0 0 6 0v-5a3 3 0 0 0-3-3z" />
    <path d="M5.5 11a6.5 6.5 0 0 0 13 0" />
    <path d="M12 17.5v3" />
  </Icon>
);
