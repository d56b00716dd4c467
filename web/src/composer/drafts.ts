// Texts that were begun and not sent, kept for as long as the tab lives.
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
