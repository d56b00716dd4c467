// The messages on the page and those that the server stored: brought together so that what is equal isn't drawn anew.
import type { Attachment } from "../../files";
import type { Message } from "../../types";

/** The server's messages, each as the object the page has already where both say the same. */
export function merge(shown: readonly Message[], stored: readonly Message[]): Message[] {
  const known = new Map(shown.map((message) => [message.id, message]));
  return stored.map((message) => {
    const mine = known.get(message.id);
    return mine && JSON.stringify(mine) === JSON.stringify(message) ? mine : message;
  });
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

/** All that a message says in words. */
export function textOf(message: Message): string {
  return message.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
}

/** The files that were sent with a message. */
export function filesIn(message: Message): Attachment[] {
  return message.parts.flatMap((part) => (part.type === "data-attachment" ? [part.data] : []));
}

/** A new message: its files, then its words. */
export function partsOf(text: string, attachments: readonly Attachment[]): Message["parts"] {
  const files = attachments.map((file) => ({ type: "data-attachment" as const, id: file.id, data: file }));
  return text ? [...files, { type: "text", text }] : files;
}
