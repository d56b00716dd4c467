// One conversation in the list: open, rename, export, delete.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { api } from "../api";
import { lazy } from "../files/lazy";
import { t } from "../language";
import { at } from "../prefix";
import { follow, go, pathOf } from "../router";
import { showError } from "../state/showError";
import { notify } from "../state/list";
import type { Listed } from "../types";
import { DownloadIcon, EditIcon, IconButton, TrashIcon } from "../ui";

const Deletion = lazy(() => import("./Deletion").then((found) => found.Deletion));

type Props = { row: Listed; current: boolean; onChanged: () => Promise<void> };

const addressOf = (id: string) => `/api/conversations/${encodeURIComponent(id)}`;

export function Row({ row, current, onChanged }: Props) {
  const [doing, setDoing] = useState<"renaming" | "deleting" | null>(null);
  const title = row.title || t("sidebar.new");
  // Keep the tab order of a long list short: the actions of other rows have the keys F2 and Delete.
  const stop = current ? 0 : -1;
  const rename = async (wanted: string) => {
    setDoing(null);
    if (!wanted || wanted === row.title) return;
    try {
      await api.patch(addressOf(row.id), { title: wanted });
      notify({ what: "title", id: row.id, title: wanted });
    } catch (error) {
      showError(error, "errors.notRenamed");
    }
  };
  const remove = async () => {
    setDoing(null);
    try {
      await api.del(addressOf(row.id));
      if (current) go("/");
      notify({ what: "list" });
    } catch (error) {
      showError(error, "errors.notDeleted");
      await onChanged();
    }
  };
  if (doing === "renaming") {
    return (
      <li className="row">
        <TitleBox title={title} onDone={(wanted) => void rename(wanted)} onCancel={() => setDoing(null)} />
      </li>
    );
  }
  return (
    <li className={`row ${current ? "row-current" : ""}`}>
      <a
        href={at(pathOf(row.id))}
        aria-current={current ? "page" : undefined}
        aria-keyshortcuts="F2 Delete"
        title={title}
        onClick={follow}
        onKeyDown={(event) => {
          if (event.key === "F2") setDoing("renaming");
          if (event.key === "Delete") setDoing("deleting");
        }}
      >
        {row.running && <span className="dot" role="img" aria-label={t("sidebar.running")} />}
        <span className="row-title">{title}</span>
      </a>
      <span className="row-actions">
        <IconButton
          small
          tabIndex={stop}
          label={t("sidebar.rename", { title })}
          icon={<EditIcon />}
          onClick={() => setDoing("renaming")}
        />
        <a
          className="icon-button icon-button-small"
          href={`${addressOf(row.id)}/export`}
          download
          tabIndex={stop}
          aria-label={t("sidebar.export", { title })}
          title={t("sidebar.exportShort")}
        >
          <DownloadIcon />
        </a>
        <IconButton
          small
          tabIndex={stop}
          label={t("sidebar.delete", { title })}
          icon={<TrashIcon />}
          onClick={() => setDoing("deleting")}
        />
      </span>
      {doing === "deleting" && <Deletion row={row} title={title} onClose={() => setDoing(null)} onDelete={() => void remove()} />}
    </li>
  );
}

type TitleProps = { title: string; onDone: (title: string) => void; onCancel: () => void };

function TitleBox({ title, onDone, onCancel }: TitleProps) {
  const box = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => box.current?.select(), []);
  return (
    <input
      ref={box}
      className="field row-box"
      aria-label={t("sidebar.titleBox")}
      maxLength={200}
      defaultValue={title}
      onBlur={(event) => onDone(event.currentTarget.value.trim())}
      onKeyDown={(event) => {
        if (event.key === "Enter" && !event.isComposing) event.currentTarget.blur();
        if (event.key === "Escape") {
          event.stopPropagation();
          onCancel();
        }
      }}
    />
  );
}
