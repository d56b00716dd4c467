// Unsent drafts, stored for the lifetime of the tab.
import type { Attachment } from "../files";
import { trayOf } from "../files/uploads/useUploads";

/** Key of a conversation's draft; null means a new conversation. */
export const placeOf = (conversation: string | null): string => conversation ?? "new";

const keyOf = (place: string) => `showandtell.draft.${place}`;

export const keptDraft = (place: string) => sessionStorage.getItem(keyOf(place)) ?? "";

export function keepDraft(place: string, text: string): void {
  try {
    if (text) sessionStorage.setItem(keyOf(place), text);
    else sessionStorage.removeItem(keyOf(place));
  } catch {
    // The storage is full; the text is still in its box.
  }
}

type Box = { text: () => string; write: (text: string) => void };

/** Mounted composers by draft key. */
const boxes = new Map<string, Box>();

/** Registers a composer to receive returned messages. Returns a function that unregisters it. */
export function openBox(place: string, box: Box): () => void {
  boxes.set(place, box);
  return () => void (boxes.get(place) === box && boxes.delete(place));
}

/** Returns a message that couldn't be sent to its composer, before any text typed there since. */
export function restoreDraft(conversation: string | null, text: string, attachments: readonly Attachment[]): void {
  const place = placeOf(conversation);
  const box = boxes.get(place);
  const both = [text, box ? box.text() : keptDraft(place)].filter(Boolean).join("\n\n");
  if (box) box.write(both);
  else keepDraft(place, both);
  trayOf(place).adopt(attachments);
}
