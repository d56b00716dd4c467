// What a tool that the provider ran was given and returned: code, output of code, pages as links, and the rest as JSON.
import { t } from "../language";
import { isObject, linkOf } from "./sources";

/** Names of what code was given and what it printed, in the providers' APIs. */
const CODE = ["code", "command"];
const PRINTED = ["stdout", "stderr", "logs", "output"];
/** Names of the lists of results. */
const LISTS = ["results", "sources", "content", "result", "outputs"];

type Page = { url: string; title: string };
type Found = { pages: Page[]; rest?: Record<string, unknown> };

export function HostedDetails({ input, output }: { input: unknown; output: unknown }) {
  const { pages, rest } = pagesIn(output);
  return (
    <>
      <Value label={t("tools.input")} value={input} texts={CODE} />
      {pages.length > 0 ? (
        <>
          <p className="tool-label">{t("tools.result")}</p>
          <ul className="tool-pages">
            {pages.map((page, index) => (
              <li key={index}>
                <a href={page.url} target="_blank" rel="noopener noreferrer nofollow">
                  {page.title}
                </a>{" "}
                <small>{new URL(page.url).host}</small>
              </li>
            ))}
          </ul>
          {rest && Object.keys(rest).length > 0 && <pre tabIndex={0}>{JSON.stringify(rest, null, 2)}</pre>}
        </>
      ) : (
        output !== undefined && <Value label={t("tools.result")} value={output} texts={PRINTED} />
      )}
    </>
  );
}

/** The texts of a value as they are, and what else it has as JSON. */
function Value({ label, value, texts }: { label: string; value: unknown; texts: readonly string[] }) {
  const lines = [value].flat().flatMap((item) => (isObject(item) ? texts.flatMap((name) => textOf(item[name])) : []));
  const isText = typeof value === "string";
  return (
    <>
      <p className="tool-label">{label}</p>
      {(isText || lines.length > 0) && <pre tabIndex={0}>{isText ? value : lines.join("\n")}</pre>}
      {!isText && <Rest value={value} hidden={lines.length > 0 ? texts : []} />}
    </>
  );
}

const textOf = (value: unknown) => (typeof value === "string" && value.trim() ? [value] : []);

/** A value as JSON, without the texts that are shown already; nothing if only its types are left. */
function Rest({ value, hidden }: { value: unknown; hidden: readonly string[] }) {
  const left = [value].flat().map((item) => (isObject(item) && hidden.length > 0 ? without(item, hidden) : item));
  if (hidden.length > 0 && left.every((item) => isObject(item) && Object.keys(item).length === 0)) return null;
  return <pre tabIndex={0}>{JSON.stringify(Array.isArray(value) ? left : left[0], null, 2)}</pre>;
}

function without(fields: Record<string, unknown>, hidden: readonly string[]) {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => name !== "type" && !hidden.includes(name)));
}

/** The pages of a search, and what else stands beside their list; none if an item isn't a page. */
function pagesIn(value: unknown): Found {
  if (isObject(value)) {
    const name = LISTS.find((each) => pagesIn(value[each]).pages.length > 0);
    return name ? { pages: pagesIn(value[name]).pages, rest: without(value, [name]) } : { pages: [] };
  }
  if (!Array.isArray(value)) return { pages: [] };
  const pages = value.map((item) => (isObject(item) ? pageOf(item) : null));
  return { pages: pages.every((page) => page !== null) ? pages : [] };
}

function pageOf(item: Record<string, unknown>): Page | null {
  const url = linkOf(item["url"] ?? item["uri"] ?? item["link"] ?? item["source"]);
  const title = item["title"] ?? item["name"];
  return url ? { url, title: typeof title === "string" && title ? title : url } : null;
}
