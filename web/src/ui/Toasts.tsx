// Short messages at the bottom of the page, announced by screen readers; they disappear after a while or on click.
import { useEffect, useState } from "preact/hooks";
import { t } from "../language";
import { IconButton } from "./Button";
import { CloseIcon } from "./icons";

type Toast = { key: number; text: string; look: "plain" | "bad"; undo: (() => void) | undefined };

let next = 0;
const readers = new Set<(toast: Toast) => void>();

/** Shows a line of text for some seconds, longer for `bad` and with a button that calls `undo`. */
export function toast(text: string, look: Toast["look"] = "plain", undo?: () => void): void {
  const shown = { key: next++, text, look, undo };
  for (const read of readers) read(shown);
}

/** Mounted once at the root. */
export function Toasts() {
  const [toasts, setToasts] = useState<Toast[]>([]);
  const drop = (key: number) => setToasts((all) => all.filter((each) => each.key !== key));
  useEffect(() => {
    const read = (shown: Toast) => {
      setToasts((all) => [...all.slice(-2), shown]);
      setTimeout(() => drop(shown.key), shown.look === "bad" || shown.undo ? 9000 : 4000);
    };
    readers.add(read);
    return () => void readers.delete(read);
  }, []);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {toasts.map((each) => (
        <div key={each.key} className={`toast toast-${each.look}`}>
          <span>{each.text}</span>
          {each.undo && (
            <button
              type="button"
              onClick={() => {
                drop(each.key);
                each.undo?.();
              }}
            >
              {t("page.undo")}
            </button>
          )}
          <IconButton small label={t("page.dismiss")} icon={<CloseIcon />} onClick={() => drop(each.key)} />
        </div>
      ))}
    </div>
  );
}
