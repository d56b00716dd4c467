// Suggests the conversation's files after @ or #; the chosen one is inserted as a reference such as "image 5".
import type { RefObject } from "preact";
import { useCallback, useState } from "preact/hooks";
import type { Attachment } from "../files";
import { labelOf, referenceText } from "../files/attachment";

type Suggestion = { file: Attachment; words: string };
type Open = { items: Suggestion[]; from: number; to: number; at: number };

const closed: Open = { items: [], from: 0, to: 0, at: 0 };
const maxSuggestions = 8;

/** The text between the last @ or # at the start of a word and the cursor. */
const trigger = /(?:^|\s)([@#])([^\s@#]{0,40})$/;

export function useSuggestions(
  box: RefObject<HTMLTextAreaElement | null>,
  files: ReadonlyMap<number, Attachment>,
  replace: (from: number, to: number, words: string) => void,
) {
  const [open, setOpen] = useState<Open>(closed);
  const close = useCallback(() => setOpen(closed), []);
  const look = useCallback(() => {
    const element = box.current;
    if (!element || files.size === 0 || element.selectionStart !== element.selectionEnd) return close();
    const to = element.selectionStart;
    const match = trigger.exec(element.value.slice(0, to));
    if (!match) return close();
    const words = (match[2] ?? "").toLowerCase();
    const items = suggestionsFor(files, words);
    setOpen({ items, from: to - words.length - 1, to, at: 0 });
  }, [files, close]);
  const choose = useCallback(
    (suggestion: Suggestion) => {
      replace(open.from, open.to, `${suggestion.words} `);
      close();
    },
    [open, replace, close],
  );
  /** Returns whether the list handled the key. */
  const onKeyDown = (event: KeyboardEvent): boolean => {
    const count = open.items.length;
    if (!count || event.isComposing) return false;
    const chosen = open.items[open.at];
    if (event.key === "ArrowDown") setOpen({ ...open, at: (open.at + 1) % count });
    else if (event.key === "ArrowUp") setOpen({ ...open, at: (open.at + count - 1) % count });
    else if ((event.key === "Enter" || event.key === "Tab") && chosen) choose(chosen);
    else if (event.key === "Escape") close();
    else return false;
    event.preventDefault();
    return true;
  };
  return { items: open.items, at: open.at, look, close, choose, onKeyDown };
}

/** Files that match by number, kind or name, newest first. */
function suggestionsFor(files: ReadonlyMap<number, Attachment>, words: string): Suggestion[] {
  const suggestions: Suggestion[] = [];
  for (const [number, file] of [...files].reverse()) {
    if (file.state === "deleted") continue;
    const suggestion = { file, words: referenceText(file.kind, number) };
    const names = [suggestion.words, labelOf(file).toLowerCase()].map((name) => name.replace(" ", ""));
    const hit = !words || String(number).startsWith(words) || names.some((name) => name.startsWith(words));
    if (hit || file.name.toLowerCase().includes(words)) suggestions.push(suggestion);
    if (suggestions.length === maxSuggestions) break;
  }
  return suggestions;
}
