// The matrix as a table: a row per family of models, two columns per kind, arrow keys between cells.
import "./table.css";
import { memo } from "preact/compat";
import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";
import { dayOf, t } from "../language";
import { byProvider, isUnproven, type Kind, PLACES, type Row } from "./rows";
import { Tip, type Looked } from "./Tip";
import { Word } from "./Word";

const columnsOf = (kinds: readonly Kind[]) => kinds.flatMap((kind) => PLACES.map((place) => ({ kind, place })));
const MOVES: Record<string, [number, number]> = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
const LINES = "tbody tr:not(.matrix-provider)";

/** `onTooWide`: the words of the language don't fit beside each other. */
export function Table(p: { rows: readonly Row[]; kinds: readonly Kind[]; onTooWide(): void }) {
  const [looked, look] = useState<Looked | null>(null);
  const table = useRef<HTMLTableElement>(null);
  useLayoutEffect(() => void (table.current && takeTab(table.current, null)), [p.rows, p.kinds]);
  useLayoutEffect(() => {
    const view = table.current?.closest(".matrix");
    if (view && view.scrollWidth > view.clientWidth) p.onTooWide();
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") look(null);
    const move = MOVES[event.key];
    if (!move || !table.current) return;
    event.preventDefault();
    goBy(table.current, move);
  };
  const onFocus = useCallback((event: FocusEvent) => {
    if (table.current && event.target instanceof HTMLButtonElement) takeTab(table.current, event.target);
  }, []);
  return (
    <div className="matrix-wide" onMouseLeave={() => look(null)}>
      <table
        ref={table}
        className="matrix-table"
        role="grid"
        aria-label={t("matrix.table")}
        onKeyDown={onKeyDown}
        onFocusCapture={onFocus}
      >
        <Head kinds={p.kinds} />
        <Body rows={p.rows} kinds={p.kinds} look={look} />
      </table>
      {looked && <Tip {...looked} />}
    </div>
  );
}

/** Memoized, because the pointer moves over hundreds of cells. */
const Body = memo(function Body(p: { rows: readonly Row[]; kinds: readonly Kind[]; look(at: Looked | null): void }) {
  return (
    <>
      {byProvider(p.rows).map(([provider, rows]) => (
        <tbody key={provider}>
          <tr className="matrix-provider">
            <th scope="rowgroup" colSpan={p.kinds.length * PLACES.length + 1}>
              <span>{provider}</span>
            </th>
          </tr>
          {rows.map((row) => (
            <Line key={row.models} row={row} kinds={p.kinds} look={p.look} />
          ))}
        </tbody>
      ))}
    </>
  );
});

function Line(p: { row: Row; kinds: readonly Kind[]; look(at: Looked | null): void }) {
  const { row } = p;
  return (
    <tr>
      <th scope="row">
        <Models row={row} />
      </th>
      {columnsOf(p.kinds).map(({ kind, place }) => {
        const show = (event: Event) => p.look({ row, kind, place, cell: event.currentTarget as HTMLElement });
        return (
          <td key={kind + place} className={place === "user" ? "matrix-last" : ""}>
            <button type="button" tabIndex={-1} onFocus={show} onMouseEnter={show} onClick={show} onBlur={() => p.look(null)}>
              <Word delivery={row[place][kind]} unproven={isUnproven(row, kind, place)} />
            </button>
          </td>
        );
      })}
    </tr>
  );
}

function Head({ kinds }: { kinds: readonly Kind[] }) {
  return (
    <thead>
      <tr>
        <th scope="col" rowSpan={2}>
          {t("matrix.models")}
        </th>
        {kinds.map((kind) => (
          <th key={kind} scope="colgroup" colSpan={2}>
            {t(`matrix.kind.${kind}`)}
          </th>
        ))}
      </tr>
      <tr>
        {columnsOf(kinds).map(({ kind, place }) => (
          <th key={kind + place} scope="col">
            {t(place === "user" ? "matrix.fromYou" : "matrix.fromTool")}
          </th>
        ))}
      </tr>
    </thead>
  );
}

/** The model patterns of a row, and how the row is identified. */
export function Models(p: { row: Row }) {
  const { row } = p;
  const own = Object.keys(row.verified).length > 0;
  return (
    <>
      {row.models.startsWith("any") ? (
        <span>{t(row.models === "any" ? "matrix.anyModel" : "matrix.anyOther")}</span>
      ) : (
        <code>{row.models}</code>
      )}
      <span className="matrix-quiet">{own ? t("matrix.ownCheck") : knownBy(row) || t("matrix.noPlace")}</span>
    </>
  );
}

/** The kinds of evidence and their newest date, in the language of the page. */
function knownBy({ known_by }: Row): string {
  const [, kinds, date] = /^(.+) (\d{4}-\d\d-\d\d)$/.exec(known_by) ?? [];
  if (!kinds || !date) return known_by;
  return `${kinds.split(", ").map((kind) => t("matrix.evidence", { kind })).join(", ")}, ${dayOf(date)}`;
}

/** Roving tabindex: Tab reaches only the cell that was focused last, or the first one. */
function takeTab(table: HTMLTableElement, cell: HTMLButtonElement | null) {
  for (const before of table.querySelectorAll<HTMLButtonElement>("button[tabindex='0']")) before.tabIndex = -1;
  const home = cell ?? table.querySelector<HTMLButtonElement>(`${LINES} button`);
  if (home) home.tabIndex = 0;
}

/** Moves the focus by rows and columns. */
function goBy(table: HTMLTableElement, [down, across]: [number, number]) {
  const lines = [...table.querySelectorAll(LINES)].map((line) => [...line.querySelectorAll("button")]);
  const from = lines.findIndex((line) => line.includes(document.activeElement as HTMLButtonElement));
  const column = lines[from]?.indexOf(document.activeElement as HTMLButtonElement) ?? 0;
  lines[from + down]?.[column + across]?.focus();
}
