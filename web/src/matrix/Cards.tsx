// The matrix on narrow screens: one card per family with collapsible evidence.
import "./cards.css";
import { useState } from "preact/hooks";
import { t } from "../language";
import { Evidence } from "./Evidence";
import { isUnproven, type Kind, PLACES, type Row } from "./rows";
import { Models } from "./Table";
import { Word } from "./Word";

export function Cards(p: { rows: readonly Row[]; kinds: readonly Kind[] }) {
  return (
    <ul className="matrix-cards">
      {p.rows.map((row) => (
        <Card key={`${row.provider} ${row.models}`} row={row} kinds={p.kinds} />
      ))}
    </ul>
  );
}

function Card(p: { row: Row; kinds: readonly Kind[] }) {
  const { row, kinds } = p;
  const [open, show] = useState(false);
  return (
    <li className="matrix-card">
      <h2>{row.provider}</h2>
      <p className="matrix-models">
        <Models row={row} />
      </p>
      <table>
        <thead>
          <tr>
            <td />
            <th scope="col">{t("matrix.fromTool")}</th>
            <th scope="col">{t("matrix.fromYou")}</th>
          </tr>
        </thead>
        <tbody>
          {kinds.map((kind) => (
            <tr key={kind}>
              <th scope="row">{t(`matrix.kind.${kind}`)}</th>
              {PLACES.map((place) => (
                <td key={place}>
                  <Word delivery={row[place][kind]} unproven={isUnproven(row, kind, place)} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <details onToggle={(event) => show(event.currentTarget.open)}>
        <summary>{t("matrix.howWeKnow")}</summary>
        {open &&
          kinds.map((kind) => (
            <section key={kind}>
              <h3>{t(`matrix.kind.${kind}`)}</h3>
              <Evidence row={row} kind={kind} place="tool_result" />
              {row.tool_result[kind] === "native" && row.user[kind] === "native" && <Evidence row={row} kind={kind} place="user" />}
            </section>
          ))}
      </details>
    </li>
  );
}
