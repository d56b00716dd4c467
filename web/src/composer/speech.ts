// The browser's speech recognition, which our types don't know yet, and how its words go into a text.

type Alternative = { transcript: string };
type Result = { isFinal: boolean; [index: number]: Alternative | undefined };
type Heard = Event & { results: { length: number; [index: number]: Result | undefined } };

export type Recognition = EventTarget & {
  lang: string;
  continuous: boolean;
  interimResults: boolean;
  start(): void;
  stop(): void;
  abort(): void;
  onresult: ((event: Heard) => void) | null;
  onerror: ((event: Event & { error: string }) => void) | null;
  onend: (() => void) | null;
};

type WithSpeech = { [name in "SpeechRecognition" | "webkitSpeechRecognition"]?: new () => Recognition };

/** A new recognition; null where the browser has none. */
export function makeRecognition(): Recognition | null {
  const { SpeechRecognition, webkitSpeechRecognition } = window as WithSpeech;
  const Made = SpeechRecognition ?? webkitSpeechRecognition;
  return Made ? new Made() : null;
}

const KEY = "showandtell.voice";

/** The language that the user speaks; null for the page's. */
export const keptVoiceLanguage = () => localStorage.getItem(KEY);

export function keepVoiceLanguage(language: string | null): void {
  if (language) localStorage.setItem(KEY, language);
  else localStorage.removeItem(KEY);
}

/** A text box, as far as it is needed here. */
export type Box = Pick<HTMLTextAreaElement, "value" | "selectionEnd" | "setRangeText">;

/** Languages that are written without spaces between sentences. */
const WITHOUT_SPACES = /^(ja|zh|yue|th)\b/i;

/** Writes what is heard at the cursor. What the user types meanwhile stays, and the words go on at the new cursor. */
export function makeWriter(box: Box, language: string) {
  let [from, to, known, first] = [box.selectionEnd, box.selectionEnd, box.value, 0];
  return (results: Heard["results"]): void => {
    const all = Array.from({ length: results.length }, (_, index) => results[index]?.[0]?.transcript ?? "");
    if (box.value !== known) {
      first = all.length; // the words so far are the user's now, also where the browser still changes its mind
      from = to = box.selectionEnd;
    }
    const words = all.slice(first).reduce((text, more) => text + gapBetween(text, more, language) + more, "").trimStart();
    const before = box.value.slice(0, from);
    box.setRangeText(words && gapBetween(before, words, language) + words, from, to, "end");
    to = box.selectionEnd;
    known = box.value;
  };
}

const gapBetween = (text: string, more: string, language: string) =>
  !text || /\s$/.test(text) || /^\s/.test(more) || WITHOUT_SPACES.test(language) ? "" : " ";
