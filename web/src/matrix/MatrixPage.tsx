// What becomes of each kind of file with each family of models, and how we know.
import "./matrix.css";
import { useEffect, useMemo, useState } from "preact/hooks";
import { api, wordsOf } from "../api";
import { Button, Spinner } from "../ui";
import { Cards } from "./Cards";
import { filterRows, type Fate, type Row } from "./rows";
import { Table } from "./Table";
import { FATES, Word } from "./Word";

const NARROW = "(max-width: 1000px)";

export function MatrixPage() {
  const { rows, problem, again } = useRows();
  const [wanted, want] = useState("");
  const narrow = useMatch(NARROW);
  const found = useMemo(() => filterRows(rows ?? [], wanted), [rows, wanted]);
  useEffect(() => {
    document.title = "What models see – Show & Tell";
  }, []);
  return (
    <div className="matrix" tabIndex={0} role="region" aria-label="What models see">
      <div className="matrix-top">
        <h1>What models see</h1>
        <p>What becomes of an image, a document, audio, video or a text, when a tool returns it and when you upload it.</p>
        <Legend />
        <input
          className="field"
          type="search"
          aria-label="Find a provider or model"
          placeholder="Find a provider or model, like claude-sonnet-4-5"
          value={wanted}
          onInput={(event) => want(event.currentTarget.value)}
        />
        <p className="matrix-quiet" role="status">
          {rows && (wanted ? `${found.length} of ${rows.length} families` : `${rows.length} families of models`)}
        </p>
      </div>
      {problem && (
        <p className="matrix-problem" role="alert">
          {problem} <Button onClick={again}>Try again</Button>
        </p>
      )}
      {!rows && !problem && <Spinner label="Loading" />}
      {rows && found.length === 0 && (
        <p className="matrix-problem">No family fits. A model that nobody knows is treated as “any other” of its provider.</p>
      )}
      {found.length > 0 && (narrow ? <Cards rows={found} /> : <Table rows={found} />)}
    </div>
  );
}

function Legend() {
  return (
    <dl className="matrix-legend">
      {(Object.keys(FATES) as Fate[]).map((fate) => (
        <div key={fate}>
          <dt>
            <Word fate={fate} />
          </dt>
          <dd>{FATES[fate].tool || FATES[fate].user}</dd>
        </div>
      ))}
      <div>
        <dt>
          <span className="matrix-doubt">?</span>
        </dt>
        <dd>Nobody has proved that the model sees it there.</dd>
      </div>
    </dl>
  );
}

function useRows() {
  const [rows, set] = useState<Row[] | null>(null);
  const [problem, fail] = useState<string | null>(null);
  const [turn, next] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    fail(null);
    api.get<{ rows: Row[] }>("/api/matrix", { signal: stop.signal }).then(
      (answer) => set(answer.rows),
      (error: unknown) => stop.signal.aborted || fail(wordsOf(error)),
    );
    return () => stop.abort();
  }, [turn]);
  return { rows, problem, again: () => next(turn + 1) };
}

function useMatch(query: string): boolean {
  const [matches, set] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const read = () => set(media.matches);
    media.addEventListener("change", read);
    return () => media.removeEventListener("change", read);
  }, [query]);
  return matches;
}
