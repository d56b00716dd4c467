// The mark of a footnote in a text: a link to the footnote, which shows the source while it is pointed at or has the focus.
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { t } from "../language";
import { hostOf, NotesContext } from "./sources";

const WIDTH = 320;
/** What is below this part of the window has its tip above. */
const LOW = 0.6;

/** Puts a tip below a mark, or above it near the end of the window. */
function putBeside(mark: HTMLElement, tip: HTMLElement): void {
  const at = mark.getBoundingClientRect();
  const place = at.bottom > innerHeight * LOW ? { bottom: `${innerHeight - at.top}px` } : { top: `${at.bottom}px` };
  const left = `${Math.max(8, Math.min(at.left, innerWidth - WIDTH - 8))}px`;
  Object.assign(tip.style, { top: "auto", bottom: "auto", left, ...place });
}

export function SourceMark({ number }: { number: number }) {
  const { id, notes } = useContext(NotesContext);
  const [open, setOpen] = useState(false);
  const mark = useRef<HTMLElement>(null);
  const tip = useRef<HTMLSpanElement>(null);
  const note = notes.find((each) => each.number === number);
  useEffect(() => {
    if (!open || !mark.current || !tip.current) return;
    const [link, shown] = [mark.current, tip.current];
    const follow = () => putBeside(link, shown);
    follow();
    shown.showPopover(); // above all else: messages cut what reaches out of them
    addEventListener("scroll", follow, { capture: true, passive: true });
    return () => removeEventListener("scroll", follow, { capture: true });
  }, [open]);
  if (!note) return <> ⁅{number}⁆</>; // the model's own text
  const target = `${id}-source-${number}`;
  return (
    <sup
      ref={mark}
      className="source-mark"
      onMouseEnter={() => setOpen(true)}
      onMouseLeave={() => setOpen(false)}
      onFocusIn={() => setOpen(true)}
      onFocusOut={() => setOpen(false)}
      onKeyDown={(event) => event.key === "Escape" && setOpen(false)}
    >
      <a
        href={`#${target}`}
        aria-label={t("messages.source", { number, title: note.title })}
        aria-describedby={open ? `${target}-tip` : undefined}
        onClick={(event) => {
          event.preventDefault();
          setOpen(false);
          const shown = document.getElementById(target);
          shown?.scrollIntoView({ block: "nearest" });
          shown?.focus({ preventScroll: true });
        }}
      >
        {number}
      </a>
      {open && (
        <span ref={tip} id={`${target}-tip`} className="source-tip" role="tooltip" popover="manual">
          <strong>{note.title}</strong> <small>{hostOf(note)}</small>
          {note.quotes[0] && <q>{note.quotes[0]}</q>}
        </span>
      )}
    </sup>
  );
}
