// Shows the message or the file that the URL names after #.
import { useEffect } from "preact/hooks";
import { moved } from "../router";
import type { Session } from "./session/session";

/** Whether the URL names one. */
export const hasPlace = () => /^#(file-|msg_|ans_)/.test(location.hash);

/** `stay` ends that the view follows the end of the conversation. */
export function usePlace(session: Session, stay: () => void) {
  useEffect(() => {
    const leaving = new AbortController();
    const show = () => void (hasPlace() && import("./showPlace").then((found) => found.showPlace(session, stay, leaving.signal)));
    show();
    addEventListener(moved, show, leaving);
    return () => leaving.abort();
  }, [session]);
}
