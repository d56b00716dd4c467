// The rows of the list of files, of which only those near the view are on the page.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { t } from "../language";
import { Spinner } from "../ui";
import { FileRow } from "./FileRow";
import type { UsedFile } from "./useFileList";
import { useRowsInView } from "./useRowsInView";

/** Rows below the view that are loaded before the user gets there. */
const AHEAD = 40;

type Props = {
  files: readonly UsedFile[];
  ended: boolean;
  more: () => void;
  chosen: ReadonlySet<string>;
  onChoose: (change: (now: ReadonlySet<string>) => ReadonlySet<string>) => void;
  onPlaces: (file: UsedFile) => void;
  onDelete: (file: UsedFile) => void;
};

export function Files({ files, ended, more, chosen, onChoose, onPlaces, onDelete }: Props) {
  const list = useRef<HTMLUListElement>(null);
  const { from, to } = useRowsInView(list, files.length);
  const [focused, setFocused] = useState<number | null>(null);
  const known = useRef(files);
  known.current = files;
  const last = useRef(0);
  const nearEnd = !ended && to + AHEAD > files.length;
  useEffect(() => void (nearEnd && more()), [nearEnd, more]);

  const onCheck = useCallback(
    (index: number, checked: boolean, toThere: boolean) => {
      const [first, end] = toThere ? [Math.min(last.current, index), Math.max(last.current, index)] : [index, index];
      const ids = known.current.slice(first, end + 1).map((file) => file.id);
      last.current = index;
      onChoose((now) => {
        const next = new Set(now);
        for (const id of ids) if (checked) next.add(id);
        else next.delete(id);
        return next;
      });
    },
    [onChoose],
  );
  const rows = files.map((_, index) => index).slice(from, to);
  if (focused !== null && focused < files.length && !rows.includes(focused)) rows.push(focused);
  return (
    <>
      <ul
        ref={list}
        className="all-files-list"
        aria-label={t("allFiles.title")}
        style={{ "--count": files.length }}
        onFocusCapture={(event) => setFocused(rowOf(event))}
        onBlurCapture={() => setFocused(null)}
        onKeyDown={(event) => {
          walk(event);
          const file = event.key === "Delete" && files[rowOf(event) ?? -1];
          if (file) onDelete(file);
        }}
      >
        {rows.map((index) => {
          const file = files[index];
          return (
            file && (
              <FileRow
                key={file.id}
                file={file}
                index={index}
                count={ended ? files.length : -1}
                checked={chosen.has(file.id)}
                onCheck={onCheck}
                onPlaces={onPlaces}
              />
            )
          );
        })}
      </ul>
      {!ended && (
        <div className="all-files-more">
          <Spinner label={t("page.loading")} />
        </div>
      )}
    </>
  );
}

function rowOf(event: Event): number | null {
  const row = (event.target as HTMLElement).closest<HTMLElement>("[data-at]");
  return row ? Number(row.dataset["at"]) : null;
}

/** Arrow keys move to the same place in the row above or below. */
function walk(event: KeyboardEvent): void {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  const index = rowOf(event);
  if (!step || index === null) return;
  const row = (event.currentTarget as HTMLElement).querySelector(`[data-at="${index + step}"]`);
  const stop = (event.target as HTMLElement).dataset["stop"];
  const next = row?.querySelector<HTMLElement>(`[data-stop="${stop}"]`) ?? row?.querySelector<HTMLElement>("[data-stop]");
  if (!next) return;
  event.preventDefault();
  next.focus();
}
