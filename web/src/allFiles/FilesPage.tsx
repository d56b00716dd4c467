// All files of a user's conversations: found, sorted, and deleted.
import "./allFiles.css";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { lazy } from "../files/lazy";
import type { Kind } from "../files";
import { sizeOf, t } from "../language";
import { StorageUse, useStorage } from "../settings/StorageUse";
import { useLater } from "../state/useLater";
import { Button, Spinner } from "../ui";
import { Files } from "./Files";
import { SIZE, useFileList, type UsedFile } from "./useFileList";

const FilesDeletion = lazy(() => import("./FilesDeletion").then((found) => found.FilesDeletion));
const Places = lazy(() => import("./Places").then((found) => found.Places));

const KINDS: readonly Kind[] = ["image", "document", "audio", "video", "text", "other"];
const SORTS = ["newest", "oldest", "largest", "name"] as const;
type Sort = (typeof SORTS)[number];
const NONE: ReadonlySet<string> = new Set();

export function FilesPage() {
  const [filter, setFilter] = useState<Filter>({ words: "", kind: "", sort: "newest" });
  const words = useLater(filter.words.trim(), 250);
  const use = useStorage();
  const { list, problem, again, more, drop } = useFileList(queryOf({ ...filter, words }));
  const [chosen, setChosen] = useState(NONE);
  const [shown, show] = useState<UsedFile | null>(null);
  const [deleting, remove] = useState<readonly UsedFile[] | null>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = t("page.title", { title: t("allFiles.title") });
  }, []);
  useEffect(() => setChosen(NONE), [list?.query]);

  const files = list?.files ?? [];
  const selected = files.filter((file) => chosen.has(file.id));
  const onDeleted = (ids: ReadonlySet<string>) => {
    drop(ids);
    setChosen((now) => new Set([...now].filter((id) => !ids.has(id))));
    use.again();
  };
  const onClosed = (failed: boolean) => {
    remove(null);
    if (failed) void again();
    requestAnimationFrame(() => document.activeElement === document.body && heading.current?.focus({ preventScroll: true }));
  };
  const askFor = useCallback((file: UsedFile) => remove([file]), []);
  return (
    <div className="all-files">
      <h1 ref={heading} tabIndex={-1}>
        {t("allFiles.title")}
      </h1>
      <StorageUse use={use.value} />
      <Filters filter={filter} onChange={setFilter} />
      <div className="all-files-bar">
        <label className="a-file-check">
          <input
            type="checkbox"
            aria-label={t("allFiles.selectAll")}
            disabled={files.length === 0}
            checked={files.length > 0 && selected.length === files.length}
            ref={(box) => void (box && (box.indeterminate = selected.length > 0 && selected.length < files.length))}
            onClick={(event) => setChosen(event.currentTarget.checked ? new Set(files.map((file) => file.id)) : NONE)}
          />
        </label>
        <p role="status">{selected.length ? wordsOf(selected) : list && countOf(files.length, list.ended)}</p>
        {selected.length > 0 && (
          <Button look="danger" onClick={() => remove(selected)}>
            {t("page.delete")}
          </Button>
        )}
      </div>
      {problem && (
        <p className="notice notice-warn" role="alert">
          <span>{problem}</span>
          <Button onClick={() => (list?.files.length ? more() : void again())}>{t("page.tryAgain")}</Button>
        </p>
      )}
      {!list && !problem && <Spinner label={t("page.loading")} />}
      {list?.ended && files.length === 0 && <p className="soft">{t(list.query.includes("&q=") || list.query.includes("&kind=") ? "allFiles.nothing" : "allFiles.empty")}</p>}
      {list && files.length > 0 && (
        <Files files={files} ended={list.ended} more={more} chosen={chosen} onChoose={setChosen} onPlaces={show} onDelete={askFor} />
      )}
      {list && !list.ended && files.length === 0 && <Rest more={more} />}
      {shown && <Places file={shown} onClose={() => show(null)} />}
      {deleting && <FilesDeletion files={deleting} onDeleted={onDeleted} onClose={onClosed} />}
    </div>
  );
}

/** All that was loaded is deleted, and there is more. */
function Rest({ more }: { more: () => void }) {
  useEffect(more, [more]);
  return <Spinner label={t("page.loading")} />;
}

const wordsOf = (files: readonly UsedFile[]) =>
  t("allFiles.selected", { count: files.length, size: sizeOf(files.reduce((sum, file) => sum + (file.size ?? 0), 0)) });

/** Stays the same while more is loaded, because it is read out when it changes. */
const countOf = (count: number, ended: boolean) =>
  ended ? t("data.files", { count }) : t("allFiles.moreThan", { count: SIZE });

type Filter = { words: string; kind: Kind | ""; sort: Sort };

function queryOf({ words, kind, sort }: Filter): string {
  return `&sort=${sort}${words && `&q=${encodeURIComponent(words)}`}${kind && `&kind=${kind}`}`;
}

function Filters({ filter, onChange }: { filter: Filter; onChange: (filter: Filter) => void }) {
  return (
    <div className="all-files-filters">
      <input
        className="field"
        type="search"
        aria-label={t("allFiles.find")}
        placeholder={t("allFiles.find")}
        value={filter.words}
        onInput={(event) => onChange({ ...filter, words: event.currentTarget.value })}
      />
      <select
        className="field"
        aria-label={t("allFiles.kinds")}
        value={filter.kind}
        onChange={(event) => onChange({ ...filter, kind: event.currentTarget.value as Kind | "" })}
      >
        <option value="">{t("allFiles.allKinds")}</option>
        {KINDS.map((kind) => (
          <option key={kind} value={kind}>
            {t(`allFiles.kind.${kind}`)}
          </option>
        ))}
      </select>
      <select
        className="field"
        aria-label={t("allFiles.order")}
        value={filter.sort}
        onChange={(event) => onChange({ ...filter, sort: event.currentTarget.value as Sort })}
      >
        {SORTS.map((sort) => (
          <option key={sort} value={sort}>
            {t(`allFiles.sort.${sort}`)}
          </option>
        ))}
      </select>
    </div>
  );
}
