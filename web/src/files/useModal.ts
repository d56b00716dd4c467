// A native <dialog> that is open as long as it is on the page: it keeps the focus inside and gives it back.
import { useLayoutEffect, useRef } from "preact/hooks";

export function useModal() {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => shown?.close();
  }, []);
  return dialog;
}
