// What a search found: conversations with the place of the match, which their links lead to.
import "./finding.css";
import { labelOf, titleOf } from "../files";
import { ownAddress, type Attachment } from "../files/attachment";
import { KindIcon } from "../files/KindIcon";
import { dateOf, t } from "../language";
import { at } from "../prefix";
import { follow, pathOf } from "../router";
import type { useList } from "../state/list";
import type { Own } from "../types";
import { Button } from "../ui";
import { termsOf, withMarks } from "./marks";
import { Row } from "./Row";

type Page = NonNullable<ReturnType<typeof useList>["page"]>;
type Props = { page: Page; current: string | null; onFilter: (filters: string) => void };

export function Results({ page, current, onFilter }: Props) {
  const asked = new URLSearchParams(page.query);
  const terms = termsOf(asked.get("q") ?? "");
  const isFiltered = asked.size > (asked.has("q") ? 1 : 0);
  const isArchive = asked.has("archived");
  const count = page.conversations.length;
  return (
    <section aria-label={t(isArchive ? "finding.theArchive" : "finding.results")}>
      <div className="results-head">
        <div role="status">
          <h2>{page.next ? t("finding.foundFirst", { count }) : t(isArchive ? "finding.inArchive" : "finding.found", { count })}</h2>
        </div>
        {isFiltered && (
          <Button look="quiet" onClick={() => onFilter("")}>
            {t("finding.clear")}
          </Button>
        )}
      </div>
      <ul>
        {page.conversations.map((row) => (
          <Row key={row.id} row={row} current={row.id === current} place={placeOf(row)} draw={(title) => withMarks(title, terms)}>
            <Found row={row} terms={terms} onTag={(tag) => onFilter(`&${new URLSearchParams(isArchive ? { tag, archived: "true" } : { tag })}`)} />
          </Row>
        ))}
      </ul>
    </section>
  );
}

/** The place in the conversation that its title leads to. */
function placeOf({ match }: Own): string {
  if (!match || match.title) return "";
  const [file] = match.files;
  return file ? placeOfFile(file) : match.message_id ? `#${match.message_id}` : "";
}

const placeOfFile = (file: Attachment) => `#file-${file.number}`;

/** Below the title: the excerpt, the files, and the day of the last change. */
function Found({ row, terms, onTag }: { row: Own; terms: readonly string[]; onTag: (tag: string) => void }) {
  const { match } = row;
  const path = pathOf(row.id);
  const isNamed = terms.length > 0;
  return (
    <div className="found">
      {match?.message && (
        <a className="found-text" href={at(path + (match.message_id ? `#${match.message_id}` : ""))} onClick={follow}>
          {withMarks(match.message, terms)}
        </a>
      )}
      {match && match.files.length > 0 && (
        <ul className={isNamed ? "found-files" : "found-files found-tiles"} aria-label={t("finding.files")}>
          {match.files.map((file) => (
            <li key={file.id}>
              <a href={at(path + placeOfFile(file))} title={titleOf(file)} onClick={follow}>
                <Thumbnail file={file} />
                <span className={isNamed ? "found-name" : "unseen"}>{withMarks(file.name, terms)}</span>
              </a>
            </li>
          ))}
        </ul>
      )}
      <p className="found-facts">
        <span>{dateOf(new Date(row.changed * 1000), { dateStyle: "medium" })}</span>
        {match && match.more_files > 0 && <span>{t("finding.moreFiles", { count: match.more_files })}</span>}
        {row.archived && <span>{t("finding.archived")}</span>}
        {row.tags.map((tag) => (
          <button key={tag} type="button" className="tag" title={t("finding.filterByTag", { tag })} onClick={() => onTag(tag)}>
            {tag}
          </button>
        ))}
      </p>
    </div>
  );
}

function Thumbnail({ file }: { file: Attachment }) {
  const address = ownAddress(file.thumbnail);
  return (
    <span className="found-thumbnail">
      {address ? <img src={address} alt={labelOf(file)} loading="lazy" decoding="async" /> : <KindIcon kind={file.kind} />}
    </span>
  );
}
