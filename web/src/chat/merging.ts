// The messages on the page and those that the server stored: brought together so that what is equal isn't drawn anew.
import type { Attachment } from "../files";
import type { Message } from "../types";

/** The server's messages, each as the object the page has already where both say the same. */
export function merge(shown: readonly Message[], stored: readonly Message[]): Message[] {
  const known = new Map(shown.map((message) => [message.id, message]));
  return stored.map((message) => {
    const mine = known.get(message.id);
    return mine && JSON.stringify(mine) === JSON.stringify(message) ? mine : message;
  });
}

/** The file and everything known before of others, or the very same map where nothing changed. */
export function withFile(files: ReadonlyMap<string, Attachment>, file: Attachment): ReadonlyMap<string, Attachment> {
  const before = files.get(file.id);
  if (before && JSON.stringify(before) === JSON.stringify(file)) return files;
  return new Map(files).set(file.id, file);
}

export function filesOf(attachments: readonly Attachment[]): ReadonlyMap<string, Attachment> {
  return new Map(attachments.map((file) => [file.id, file]));
}

/** The files by number: what "image 5" means. */
export function numbered(files: ReadonlyMap<string, Attachment>): ReadonlyMap<number, Attachment> {
  const found = new Map<number, Attachment>();
  for (const file of files.values()) if (file.number !== null) found.set(file.number, file);
  return new Map([...found].sort(([one], [other]) => one - other));
}

/** Keys for drawing: a message keeps the one it had before the server named it, so that its pictures stay. */
export function keepKeys(keys: Map<string, string>, shown: readonly Message[], stored: readonly Message[]): void {
  stored.forEach((message, index) => {
    const mine = shown[index];
    if (!mine || mine.id === message.id || mine.role !== message.role) return;
    if (stored.some((other) => other.id === mine.id)) return;
    keys.set(message.id, keys.get(mine.id) ?? mine.id);
  });
}
