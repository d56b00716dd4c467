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
    shown?.showModal();
    const uncover = cover(() => now.current());
    return () => {
      shown?.close();
      uncover();
    };
  }, []);
  return dialog;
}
