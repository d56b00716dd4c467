// The capability cells behind one entry of the matrix, with evidence, date and limits.
import { dayOf, t } from "../language";
import { Evidence as Source } from "../receipts/Evidence";
import { DELIVERY_TEXTS } from "./Word";
import { cellsOf, isUnproven, limitsOf, wordsOf, type Kind, type Place, type Row } from "./rows";

/** Maximum number of cells shown; further ones repeat the same for other forms. */
const MAX_CELLS = 6;

export function Evidence(p: { row: Row; kind: Kind; place: Place }) {
  const { row, kind, place } = p;
  const cells = cellsOf(row, kind, place).slice(0, MAX_CELLS);
  const delivery = DELIVERY_TEXTS[row[place][kind]];
  const meaning = (place === "user" && delivery.user) || delivery.tool;
  return (
    <div className="matrix-evidence">
      <p>
        {meaning && t(meaning)} {isUnproven(row, kind, place) && t("matrix.unprovenText")}
      </p>
      {cells.length > 0 && (
        <ul>
          {cells.map((cell, at) => (
            <li key={at}>
              <b>{wordsOf(cell)}</b> {limitsOf(cell)}
              <span className="matrix-source">
                <Source text={cell.evidence} /> ({dayOf(cell.date)})
              </span>
            </li>
          ))}
        </ul>
      )}
      {cells.length === 0 && <p className="matrix-source">{t("matrix.noneAccepts")}</p>}
    </div>
  );
}
