// A native modal dialog: focus trap, Esc and the backdrop come from the browser.
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { t } from "../language";
import { IconButton } from "./Button";
import { CloseIcon } from "./icons";
import { useModal } from "./useModal";

type DialogProps = {
  open: boolean;
  onClose: () => void;
  title: string;
  /** "middle" is a box; "side" a panel at the right, which is a bottom sheet on phones. */
  place?: "middle" | "side";
  className?: string;
  children?: ComponentChildren;
};

export function Dialog({ open, ...rest }: DialogProps) {
  return open ? <Opened {...rest} /> : null;
}

function Opened(props: Omit<DialogProps, "open">) {
  const { onClose, title, place = "middle", className = "", children } = props;
  const dialog = useModal(onClose);
  const heading = useId();
  return (
    <dialog
      ref={dialog}
      className={`dialog dialog-${place} ${className}`}
      aria-labelledby={heading}
      onClick={(event) => {
        // A click on the dialog element itself is one on its backdrop: the content is a child.
        if (event.target === dialog.current) onClose();
      }}
    >
      <div className="dialog-body">
        <header className="dialog-head">
          <h2 id={heading}>{title}</h2>
          <IconButton label={t("page.close")} icon={<CloseIcon />} onClick={onClose} />
        </header>
        {children}
      </div>
    </dialog>
  );
}
