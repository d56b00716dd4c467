// The capability cells behind one entry of the matrix, with evidence, date and limits.
import { Evidence as Source } from "../receipts/Evidence";
import { DELIVERY_TEXTS } from "./Word";
import { cellsOf, isUnproven, limitsOf, wordsOf, type Kind, type Place, type Row } from "./rows";

/** Maximum number of cells shown; further ones repeat the same for other forms. */
const MAX_CELLS = 6;

export function Evidence(p: { row: Row; kind: Kind; place: Place }) {
  const { row, kind, place } = p;
  const cells = cellsOf(row, kind, place).slice(0, MAX_CELLS);
  const delivery = DELIVERY_TEXTS[row[place][kind]];
  const meaning = place === "user" && delivery.user && delivery.user !== "The same." ? delivery.user : delivery.tool;
  return (
    <div className="matrix-evidence">
      <p>
        {meaning}
        {isUnproven(row, kind, place) && " Nobody has proved that the model sees it there."}
      </p>
      {cells.length > 0 && (
        <ul>
          {cells.map((cell, at) => (
            <li key={at}>
              <b>{wordsOf(cell)}</b> {limitsOf(cell)}
              <span className="matrix-source">
                <Source text={cell.evidence} /> ({cell.date})
              </span>
            </li>
          ))}
        </ul>
      )}
      {cells.length === 0 && <p className="matrix-source">No place in this API is known to accept it.</p>}
    </div>
  );
}
