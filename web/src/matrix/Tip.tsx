// Tooltip with the evidence of one cell, below the cell if there is space, else above.
import { useLayoutEffect, useReducer } from "preact/hooks";
import { Evidence } from "./Evidence";
import type { Kind, Place, Row } from "./rows";

export type Looked = { row: Row; kind: Kind; place: Place; cell: HTMLElement };

const WIDTH = 400;
const ID = "matrix-tip";

export function Tip(p: Looked) {
  const [, redraw] = useReducer((count: number, _: Event) => count + 1, 0);
  useLayoutEffect(() => {
    p.cell.setAttribute("aria-describedby", ID);
    addEventListener("scroll", redraw, { capture: true, passive: true });
    return () => {
      p.cell.removeAttribute("aria-describedby");
      removeEventListener("scroll", redraw, { capture: true });
    };
  }, [p.cell]);
  const at = p.cell.getBoundingClientRect();
  const left = `${Math.max(8, Math.min(at.left, innerWidth - WIDTH - 8))}px`;
  const place = at.bottom > innerHeight * 0.6 ? { bottom: `${innerHeight - at.top}px` } : { top: `${at.bottom}px` };
  return (
    <div id={ID} className="matrix-tip" role="tooltip" style={{ left, ...place }}>
      <Evidence row={p.row} kind={p.kind} place={p.place} />
    </div>
  );
}
