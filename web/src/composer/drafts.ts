// Texts that were begun and not sent, kept for as long as the tab lives.
import type { Attachment } from "../files";
import { trayOf } from "../files/uploads/useUploads";

/** Under which name a conversation's draft is kept; null is the one that begins. */
export const placeOf = (conversation: string | null): string => conversation ?? "new";

const keyOf = (place: string) => `showandtell.draft.${place}`;

export const keptDraft = (place: string) => sessionStorage.getItem(keyOf(place)) ?? "";

export function keepDraft(place: string, text: string): void {
  try {
    if (text) sessionStorage.setItem(keyOf(place), text);
    else sessionStorage.removeItem(keyOf(place));
  } catch {
    // No room: the text is still in its box.
  }
}

type Box = { text: () => string; write: (text: string) => void };

/** The boxes on the page, by place. */
const boxes = new Map<string, Box>();

/** What comes back to a place is written into its box from now on. Gives the way to end that. */
export function openBox(place: string, box: Box): () => void {
  boxes.set(place, box);
  return () => void (boxes.get(place) === box && boxes.delete(place));
}

/** A message that couldn't be sent goes back to where it was written, before anything that was begun there since. */
export function putBack(conversation: string | null, text: string, attachments: readonly Attachment[]): void {
  const place = placeOf(conversation);
  const box = boxes.get(place);
  const both = [text, box ? box.text() : keptDraft(place)].filter(Boolean).join("\n\n");
  if (box) box.write(both);
  else keepDraft(place, both);
  trayOf(place).adopt(attachments);
}
