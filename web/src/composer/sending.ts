import { touches } from "../state/media";

/** Whether a key sends what is written. A keyboard on the screen has no Shift+Enter: there Enter is a new line. */
export function isSending(event: KeyboardEvent): boolean {
  if (event.key !== "Enter" || event.isComposing || event.keyCode === 229) return false;
  return touches ? event.ctrlKey || event.metaKey : !event.shiftKey;
}
