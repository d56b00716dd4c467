// What is attached to a message that wasn't sent yet, kept for a reload of the page in this tab.

/** `id` is null for a file whose upload hadn't ended. */
export type Kept = { id: string | null; name: string; size: number };

const keyOf = (place: string) => `showandtell.uploads ${place}`;

export function keep(place: string, uploads: Kept[]): void {
  try {
    if (uploads.length) sessionStorage.setItem(keyOf(place), JSON.stringify(uploads));
    else sessionStorage.removeItem(keyOf(place));
  } catch {
    // Storage may be full or forbidden; then a reload forgets, and the server drops the files after a day.
  }
}

export function recall(place: string): Kept[] {
  try {
    const found: unknown = JSON.parse(sessionStorage.getItem(keyOf(place)) ?? "[]");
    return Array.isArray(found) ? found.filter(isKept) : [];
  } catch {
    return [];
  }
}

function isKept(one: unknown): one is Kept {
  return typeof one === "object" && one !== null && "id" in one && "name" in one && typeof one.name === "string" && "size" in one;
}
