// How each family of models receives each kind of file, with the evidence.
import "./matrix.css";
import { useEffect, useMemo, useState } from "preact/hooks";
import { api } from "../api";
import { useLoaded } from "../state/loading";
import { useMatch } from "../state/media";
import { Button, Spinner } from "../ui";
import { Cards } from "./Cards";
import { filterRows, type Fate, type Row } from "./rows";
import { Table } from "./Table";
import { DELIVERY_TEXTS, Word } from "./Word";

/** The table doesn't fit narrower screens. */
const NARROW = "(max-width: 1279px)";

export function MatrixPage() {
  const { value, error, again } = useLoaded("matrix", (signal) => api.get<{ rows: Row[] }>("/api/matrix", { signal }));
  const rows = value?.rows;
  const [wanted, want] = useState(() => new URLSearchParams(location.hash.slice(1)).get("model") ?? "");
  const narrow = useMatch(NARROW);
  const found = useMemo(() => filterRows(rows ?? [], wanted), [rows, wanted]);
  useEffect(() => {
    document.title = "What models see – Show & Tell";
  }, []);
  return (
    <div className="matrix" tabIndex={0} role="region" aria-label="What models see">
      <div className="matrix-top">
        <h1>What models see</h1>
        <p>How images, documents, audio, video and text are sent to each model: from a tool, and as your upload.</p>
        <Legend />
        <input
          className="field"
          type="search"
          aria-label="Find a provider or model"
          placeholder="Provider or model"
          value={wanted}
          onInput={(event) => want(event.currentTarget.value)}
        />
        <p className="matrix-quiet" role="status">
          {rows && (wanted ? `${found.length} of ${rows.length} families` : `${rows.length} families of models`)}
        </p>
      </div>
      {error && (
        <p className="matrix-problem" role="alert">
          {error.text} <Button onClick={again}>Try again</Button>
        </p>
      )}
      {!rows && !error && <Spinner label="Loading" />}
      {rows && found.length === 0 && (
        <p className="matrix-problem">No match. Unknown models are treated as “any other” of their provider.</p>
      )}
      {found.length > 0 && (narrow ? <Cards rows={found} /> : <Table rows={found} />)}
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
          <dd>{DELIVERY_TEXTS[delivery].all ?? (DELIVERY_TEXTS[delivery].tool || DELIVERY_TEXTS[delivery].user)}</dd>
        </div>
      ))}
      <div>
        <dt>
          <span className="matrix-doubt">?</span>
        </dt>
        <dd>Not proved to be seen there.</dd>
      </div>
    </dl>
  );
}
