// Whether the user wants notifications in this browser.
const KEY = "showandtell.notify";

export const wantsNotifications = () => localStorage.getItem(KEY) !== null;

export function keepChoice(wanted: boolean): void {
  if (wanted) localStorage.setItem(KEY, "1");
  else localStorage.removeItem(KEY);
}
