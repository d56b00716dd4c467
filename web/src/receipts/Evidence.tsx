// The evidence of a capability: addresses become links, names of tests are collapsed.
import { dayOf, t } from "../language";

const RECORDED = /^recorded: (test_\S+)(?: \((\d[\d-]*)\))?$/;
const ADDRESS = /(https:\/\/[^\s()]+)/;

/** `folded`: show names of tests behind "which"; otherwise leave them out. */
export function Evidence(p: { text: string; folded?: boolean }) {
  const sources = p.text.split("; ");
  return (
    <>
      {sources.map((source, at) => (
        <span key={at}>
          {at > 0 && "; "}
          <Source text={source} folded={p.folded} />
        </span>
      ))}
    </>
  );
}

function Source(p: { text: string; folded: boolean | undefined }) {
  const [, test, date] = RECORDED.exec(p.text) ?? [];
  if (!test) return <Linked text={p.text} />;
  return (
    <>
      {t("receipts.recorded", { date: date ? ` (${dayOf(date)})` : "" })}
      {p.folded && (
        <details className="receipts-test">
          <summary>{t("receipts.which")}</summary>
          <code>{test}</code>
        </details>
      )}
    </>
  );
}

function Linked(p: { text: string }) {
  return (
    <>
      {p.text.split(ADDRESS).map((piece, at) =>
        at % 2 ? (
          <a key={at} href={piece} target="_blank" rel="noopener noreferrer nofollow">
            {piece}
          </a>
        ) : (
          piece
        ),
      )}
    </>
  );
}
