// The text of a file, loaded when it comes into view: lines, or a table for CSV and TSV. Never rendered as markup.
import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../language";
import { Button } from "../ui";
import { labelOf, partOf, type Attachment } from "./attachment";
import { Card } from "./Card";
import { readTable } from "./csv";
import { formatJson } from "./jsonLines";

const LINES = 12;
const MAX_COLUMNS = 60;
const MAX_ROWS = 2000;
const TABLES = new Map([["text/csv", undefined], ["text/tab-separated-values", "\t"]]);

type Found = { text: string; cut: boolean } | "waiting" | "failed";

export function TextView(p: { file: Attachment }) {
  const [found, find] = useState<Found>("waiting");
  const [all, showAll] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  useEffect(
    () => whenNear(place.current, (signal) => fetchText(p.file, signal).then(find, () => signal.aborted || find("failed"))),
    [p.file.id],
  );
  if (found === "failed") return <Card file={p.file} says={t("files.textBroken")} />;
  if (found === "waiting") return <div ref={place} className="file-text file-waiting" aria-busy="true" />;
  return (
    <div className="file-text">
      <div className="file-scroll" tabIndex={0} role="region" aria-label={t("files.textOf", { label: labelOf(p.file) })}>
        {TABLES.has(p.file.media_type) ? (
          <Table text={found.text} separator={TABLES.get(p.file.media_type)} maxRows={all ? MAX_ROWS : LINES} />
        ) : (
          <pre>{all ? found.text : firstLines(found.text)}</pre>
        )}
      </div>
      {isLong(found.text) && (
        <Button look="quiet" aria-expanded={all} onClick={() => showAll(!all)}>
          {t(all ? "page.showLess" : "page.showMore")}
        </Button>
      )}
      {all && found.cut && <p className="file-quiet">{t("files.restLeftOut")}</p>}
    </div>
  );
}

function Table(p: { text: string; separator: string | undefined; maxRows: number }) {
  const { rows } = readTable(p.text, p.separator, p.maxRows);
  const [head = [], ...body] = rows.map((row) => row.slice(0, MAX_COLUMNS));
  return (
    <table>
      <thead>
        <tr>
          {head.map((cell, at) => (
            <th key={at} scope="col">
              {cell}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {body.map((row, at) => (
          <tr key={at}>
            {row.map((cell, column) => (
              <td key={column}>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Calls `start` once the element is near the viewport. Returns a function that stops it. */
function whenNear(element: Element | null, start: (signal: AbortSignal) => void): () => void {
  const stop = new AbortController();
  const watch = new IntersectionObserver(
    (seen) => {
      if (!seen.some((one) => one.isIntersecting)) return;
      watch.disconnect();
      start(stop.signal);
    },
    { scrollMargin: "400px" } as IntersectionObserverInit, // the list scrolls within the page
  );
  if (element) watch.observe(element);
  return () => (watch.disconnect(), stop.abort());
}

async function fetchText(file: Attachment, signal: AbortSignal): Promise<Found> {
  const answer = await fetch(partOf(file, "text"), { signal });
  if (!answer.ok) return "failed";
  const text = await answer.text();
  return { text: isDense(file, text) ? formatJson(text) : text, cut: answer.headers.get("x-cut") === "1" };
}

/** JSON without line breaks. */
const isDense = (file: Attachment, text: string) => file.media_type === "application/json" && !text.trim().includes("\n");

const isLong = (text: string) => firstLines(text).length < text.length;

function firstLines(text: string): string {
  let end = -1;
  for (let line = 0; line < LINES; line += 1) {
    end = text.indexOf("\n", end + 1);
    if (end < 0) return text.slice(0, LINES * 400);
  }
  return text.slice(0, Math.min(end, LINES * 400));
}
