// The filters of the list: kind of file, days, tag, and the archive.
import "./finding.css";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { t } from "../language";
import { subscribe } from "../state/list";
import { Button } from "../ui";
import { dayAt, endOf, startOf } from "./period";
import { loadTags, type Tag } from "./tagList";

const KINDS = ["image", "document", "audio", "video", "text", "other"] as const;

type Props = { filters: string; onChange: (filters: string) => void; onClose: () => void };

export function Filters({ filters, onChange, onClose }: Props) {
  const asked = new URLSearchParams(filters);
  const [tags, setTags] = useState<Tag[]>([]);
  const panel = useRef<HTMLFormElement>(null);
  const id = useId();
  useEffect(() => {
    panel.current?.querySelector("select")?.focus();
    const leaving = new AbortController();
    const read = () => void loadTags(leaving.signal).then(setTags, () => {}); // those of the list can be filtered by still
    read();
    const unsubscribe = subscribe(({ what }) => what === "list" && read());
    return () => {
      unsubscribe();
      leaving.abort();
    };
  }, []);
  const set = (name: string, value: string | null) => {
    if (value) asked.set(name, value);
    else asked.delete(name);
    onChange(asked.size ? `&${asked}` : "");
  };
  const close = () => {
    onClose();
    document.querySelector<HTMLElement>(".side-search button")?.focus();
  };
  const tag = asked.get("tag");
  return (
    <form
      ref={panel}
      className="filters"
      aria-label={t("sidebar.filters")}
      onSubmit={(event) => event.preventDefault()}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        close();
      }}
    >
      <label htmlFor={`${id}-kind`}>{t("finding.kind")}</label>
      <select id={`${id}-kind`} className="field" value={asked.get("kind") ?? ""} onChange={(event) => set("kind", event.currentTarget.value)}>
        <option value="">{t("finding.anyKind")}</option>
        {KINDS.map((kind) => (
          <option key={kind} value={kind}>
            {t(`finding.kind.${kind}`)}
          </option>
        ))}
      </select>
      <label htmlFor={`${id}-since`}>{t("finding.since")}</label>
      <input
        id={`${id}-since`}
        className="field"
        type="date"
        value={dayAt(asked.get("since"))}
        onChange={(event) => set("since", startOf(event.currentTarget.value))}
      />
      <label htmlFor={`${id}-until`}>{t("finding.until")}</label>
      <input
        id={`${id}-until`}
        className="field"
        type="date"
        value={dayAt(asked.get("until"), 1)}
        onChange={(event) => set("until", endOf(event.currentTarget.value))}
      />
      {(tags.length > 0 || tag) && (
        <>
          <label htmlFor={`${id}-tag`}>{t("finding.tag")}</label>
          <select id={`${id}-tag`} className="field" value={tag ?? ""} onChange={(event) => set("tag", event.currentTarget.value)}>
            <option value="">{t("finding.anyTag")}</option>
            {tag && !tags.some(({ name }) => name === tag) && <option value={tag}>{tag}</option>}
            {tags.map(({ name, conversations }) => (
              <option key={name} value={name}>
                {t("finding.tagCount", { tag: name, count: conversations })}
              </option>
            ))}
          </select>
        </>
      )}
      <div className="filters-actions">
        <label>
          <input type="checkbox" checked={asked.has("archived")} onChange={(event) => set("archived", event.currentTarget.checked ? "true" : null)} />
          {t("finding.onlyArchive")}
        </label>
        <Button onClick={close}>{t("page.close")}</Button>
      </div>
    </form>
  );
}
