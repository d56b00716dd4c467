// Merges the messages on the page with the stored ones, so that unchanged messages aren't rendered again.
import type { Attachment } from "../../files";
import type { Message } from "../../types";

/** The stored messages. Each one that equals a shown message is replaced by that object. */
export function merge(shown: readonly Message[], stored: readonly Message[]): Message[] {
  const known = new Map(shown.map((message) => [message.id, message]));
  return stored.map((message) => {
    const mine = known.get(message.id);
    return mine && JSON.stringify(mine) === JSON.stringify(message) ? mine : message;
  });
}

/** Render keys: a message keeps its key when the server assigns its id, so that its images aren't reloaded. */
export function keepKeys(keys: Map<string, string>, shown: readonly Message[], stored: readonly Message[]): void {
  const earlier = Math.max(0, stored.findIndex((message) => message.id === shown[0]?.id));
  stored.forEach((message, index) => {
    const mine = shown[index - earlier];
    if (!mine || mine.id === message.id || mine.role !== message.role) return;
    if (stored.some((other) => other.id === mine.id)) return;
    keys.set(message.id, keys.get(mine.id) ?? mine.id);
  });
}

/** All text of a message. */
export function textOf(message: Message): string {
  return message.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
}

export function filesIn(message: Message): Attachment[] {
  return message.parts.flatMap((part) => (part.type === "data-attachment" ? [part.data] : []));
}

/** Parts of a new message: files first, then text. */
export function partsOf(text: string, attachments: readonly Attachment[]): Message["parts"] {
  const files = attachments.map((file) => ({ type: "data-attachment" as const, id: file.id, data: file }));
  return text ? [...files, { type: "text", text }] : files;
}
