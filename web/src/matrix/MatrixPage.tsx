// How each family of models receives each kind of file, with the evidence.
import "./matrix.css";
import { useEffect, useMemo, useState } from "preact/hooks";
import { api } from "../api";
import { t } from "../language";
import { useLoaded } from "../state/loading";
import { useMatch } from "../state/media";
import { Button, Spinner } from "../ui";
import { Cards } from "./Cards";
import { filterRows, type Fate, type Kind, KINDS, type Row } from "./rows";
import { Table } from "./Table";
import { DELIVERY_TEXTS, Word } from "./Word";

/** The table fits narrower screens in no language. */
const NARROW = "(max-width: 1279px)";

export function MatrixPage() {
  const { value, error, again } = useLoaded("matrix", (signal) => api.get<{ rows: Row[] }>("/api/matrix", { signal }));
  const rows = value?.rows;
  const [wanted, want] = useState(() => new URLSearchParams(location.hash.slice(1)).get("model") ?? "");
  const [kind, setKind] = useState<Kind | "">("");
  const kinds = useMemo(() => KINDS.filter((each) => !kind || each === kind), [kind]);
  const [tooWide, setTooWide] = useState(false);
  const narrow = useMatch(NARROW) || tooWide;
  const found = useMemo(() => filterRows(rows ?? [], wanted), [rows, wanted]);
  useEffect(() => {
    document.title = t("page.title", { title: t("matrix.title") });
    const onResize = () => setTooWide(false); // the table is measured again
    addEventListener("resize", onResize);
    return () => removeEventListener("resize", onResize);
  }, []);
  return (
    <div className="matrix" tabIndex={0} role="region" aria-label={t("matrix.title")}>
      <div className="matrix-top">
        <h1>{t("matrix.title")}</h1>
        <p>{t("matrix.intro")}</p>
        <Legend />
        <input
          className="field"
          type="search"
          aria-label={t("matrix.find")}
          placeholder={t("matrix.findShort")}
          value={wanted}
          onInput={(event) => want(event.currentTarget.value)}
        />
        <fieldset className="matrix-kinds">
          <legend className="unseen">{t("matrix.kinds")}</legend>
          {(["", ...KINDS] as const).map((each) => (
            <label key={each}>
              <input type="radio" name="kind" checked={kind === each} onChange={() => setKind(each)} />
              {each ? t(`matrix.kind.${each}`) : t("matrix.allKinds")}
            </label>
          ))}
        </fieldset>
        <p className="matrix-quiet" role="status">
          {rows &&
            (wanted
              ? t("matrix.found", { found: found.length, all: rows.length })
              : t("matrix.families", { count: rows.length }))}
        </p>
      </div>
      {error && (
        <p className="matrix-problem" role="alert">
          {error.text} <Button onClick={again}>{t("page.tryAgain")}</Button>
        </p>
      )}
      {!rows && !error && <Spinner label={t("page.loading")} />}
      {rows && found.length === 0 && (
        <p className="matrix-problem">{t("matrix.noMatch")}</p>
      )}
      {found.length > 0 && (narrow ? <Cards rows={found} kinds={kinds} /> : <Table rows={found} kinds={kinds} onTooWide={() => setTooWide(true)} />)}
    </div>
  );
}

function Legend() {
  return (
    <dl className="matrix-legend">
      {(Object.keys(DELIVERY_TEXTS) as Fate[]).map((delivery) => (
        <div key={delivery}>
          <dt>
            <Word delivery={delivery} />
          </dt>
          <dd>{t(DELIVERY_TEXTS[delivery].both)}</dd>
        </div>
      ))}
      <div>
        <dt>
          <span className="matrix-doubt">?</span>
        </dt>
        <dd>{t("matrix.unproven")}</dd>
      </div>
    </dl>
  );
}
