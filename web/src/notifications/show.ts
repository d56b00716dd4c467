// The browser's notifications: whether they are allowed, and how one is shown.
import { spokenLanguage } from "../language";

/** "none": this browser has none for this page, or only without pages to show them, as on Android. */
export type Permission = NotificationPermission | "none";

export const permission = (): Permission => ("Notification" in window ? Notification.permission : "none");

/** Asks the user. Only to be called by a click. */
export const askPermission = async (): Promise<Permission> =>
  "Notification" in window ? Notification.requestPermission() : "none";

/** Those that are shown, by their tags: one that is collected as garbage takes no clicks. */
const shown = new Map<string, Notification>();

/** Shows a notification in place of an earlier one with the same tag. Returns whether the browser could. */
export function show(title: string, body: string, tag: string, onClick = () => {}): boolean {
  if (permission() !== "granted") return false;
  try {
    const notification = new Notification(title, { body, tag, lang: spokenLanguage() });
    shown.set(tag, notification);
    notification.onclick = () => {
      window.focus();
      notification.close();
      onClick();
    };
    notification.onclose = () => void (shown.get(tag) === notification && shown.delete(tag));
    return true;
  } catch {
    return false;
  }
}
