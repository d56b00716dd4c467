// Attachments of an unsent message, stored so that they survive a reload of the tab.

/** `id` is null if the upload hadn't finished. */
export type StoredUpload = { id: string | null; name: string; size: number | null };

const keyOf = (place: string) => `showandtell.uploads ${place}`;

export function storeUploads(place: string, uploads: StoredUpload[]): void {
  try {
    if (uploads.length) sessionStorage.setItem(keyOf(place), JSON.stringify(uploads));
    else sessionStorage.removeItem(keyOf(place));
  } catch {
    // The storage may be full or blocked. Then a reload loses the list, and the server deletes the files after a day.
  }
}

export function loadUploads(place: string): StoredUpload[] {
  try {
    const found: unknown = JSON.parse(sessionStorage.getItem(keyOf(place)) ?? "[]");
    return Array.isArray(found) ? found.filter(isStoredUpload) : [];
  } catch {
    return [];
  }
}

function isStoredUpload(one: unknown): one is StoredUpload {
  return typeof one === "object" && one !== null && "id" in one && "name" in one && typeof one.name === "string" && "size" in one;
}
