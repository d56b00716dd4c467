// Scrolls to the message or the file that the URL names, also if it is among earlier messages or on another branch.
import { isOnPage, reveal, scrollToFile } from "../files/anchors";
import { showError } from "../state/showError";
import type { Session } from "./session/session";

/** Frames to wait for what was loaded, and for the messages themselves. */
const SOON = 30;
const LATE = 600;

export async function showPlace(session: Session, stay: () => void, signal: AbortSignal): Promise<void> {
  const place = location.hash.slice(1);
  const number = Number(/^file-(\d+)$/.exec(place)?.[1]);
  const isThere = () => (number ? isOnPage(number) : document.getElementById(place) !== null);
  stay();
  await until(() => document.querySelector(".messages > li") !== null, LATE, signal);
  if (!(await until(isThere, SOON, signal))) await session.showEarlier(true);
  if (!(await until(isThere, SOON, signal)) && !signal.aborted) await session.branch(number || place).catch(showError);
  if (!(await until(isThere, SOON, signal)) || `#${place}` !== location.hash) return;
  stay();
  const message = document.getElementById(place);
  if (number) scrollToFile(number);
  else if (message) reveal(message);
}

/** Waits some frames until it is so. Returns whether it is, and false after the view was left. */
async function until(isSo: () => boolean, frames: number, signal: AbortSignal): Promise<boolean> {
  for (let left = frames; !isSo() && left > 0 && !signal.aborted; left--) await new Promise(requestAnimationFrame);
  return isSo() && !signal.aborted;
}
