// Typing @ or # offers the conversation's files; the chosen one is written as everybody speaks of it: "image 5".
import type { RefObject } from "preact";
import { useCallback, useState } from "preact/hooks";
import type { Attachment } from "../files";
import { spoken } from "../files/attachment";

type Offer = { file: Attachment; words: string };
type Open = { items: Offer[]; from: number; to: number; at: number };

const closed: Open = { items: [], from: 0, to: 0, at: 0 };
const most = 8;

/** What stands before the cursor since the last @ or #, if that begins a word. */
const asked = /(?:^|\s)([@#])([^\s@#]{0,40})$/;

export function useOffers(
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
    const match = asked.exec(element.value.slice(0, to));
    if (!match) return close();
    const words = (match[2] ?? "").toLowerCase();
    const items = offersFor(files, words);
    setOpen({ items, from: to - words.length - 1, to, at: 0 });
  }, [files, close]);
  const choose = useCallback(
    (offer: Offer) => {
      replace(open.from, open.to, `${offer.words} `);
      close();
    },
    [open, replace, close],
  );
  /** Whether the key was for the list. */
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

/** The newest first, for they are meant most often; by number, kind or name. */
function offersFor(files: ReadonlyMap<number, Attachment>, words: string): Offer[] {
  const offers: Offer[] = [];
  for (const [number, file] of [...files].reverse()) {
    if (file.state === "deleted") continue;
    const offer = { file, words: spoken(file.kind, number) };
    const hit = !words || String(number).startsWith(words) || offer.words.replace(" ", "").startsWith(words);
    if (hit || file.name.toLowerCase().includes(words)) offers.push(offer);
    if (offers.length === most) break;
  }
  return offers;
}
