import { touches } from "../state/media";

/** Whether a key press sends the message. On-screen keyboards have no Shift+Enter, so Enter is a new line there. */
export function isSending(event: KeyboardEvent): boolean {
  if (event.key !== "Enter" || event.isComposing || event.keyCode === 229) return false;
  return touches ? event.ctrlKey || event.metaKey : !event.shiftKey;
}
