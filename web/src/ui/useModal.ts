// Opens a native <dialog> while it is mounted. It traps and restores the focus, and the
// browser's Back closes it.
import { useLayoutEffect, useRef } from "preact/hooks";
import { cover } from "../router";

export function useModal(close: () => void) {
  const dialog = useRef<HTMLDialogElement>(null);
  const now = useRef(close);
  now.current = close;
  useLayoutEffect(() => {
    const shown = dialog.current;
    if (!shown) return;
    shown.showModal();
    const uncover = cover(() => now.current());
    const closed = () => now.current();
    // The browser would close it and return the focus before it tells us: a key that opens it again would be lost.
    const cancel = (event: Event) => {
      if (event.target !== shown) return; // that of a file chooser
      event.preventDefault();
      now.current();
    };
    shown.addEventListener("cancel", cancel);
    shown.addEventListener("close", closed);
    return () => {
      shown.removeEventListener("cancel", cancel);
      shown.removeEventListener("close", closed); // it comes later, and may be taken for that of the next one
      shown.close();
      uncover();
    };
  }, []);
  return dialog;
}
