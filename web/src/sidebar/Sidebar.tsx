// The list of conversations; a drawer on phones.
import { useEffect, useRef, useState } from "preact/hooks";
import { lazy } from "../files/lazy";
import { BRAND, t } from "../language";
import { at } from "../prefix";
import { cover, follow } from "../router";
import { useApp } from "../state/AppProvider";
import { useList } from "../state/list";
import { useMatch } from "../state/media";
import { useLater } from "../state/useLater";
import { CloseIcon, FileIcon, FilterIcon, GearIcon, IconButton, PanelIcon, PlusIcon, SearchIcon, TableIcon } from "../ui";
import { List } from "./List";

const Filters = lazy(() => import("./Filters").then((found) => found.Filters));
const SharedList = lazy(() => import("./SharedList").then((found) => found.SharedList));
const Shortcuts = lazy(() => import("./Shortcuts").then((found) => found.Shortcuts));

const apple = /Mac|iP/.test(navigator.platform);

type Props = {
  current: string | null;
  open: boolean;
  onOpen: (open: boolean) => void;
  folded: boolean;
  onFold: () => void;
};

export function Sidebar({ current, open, onOpen, folded, onFold }: Props) {
  const { me } = useApp();
  const [typed, setTyped] = useState("");
  const words = useLater(typed.trim(), 250);
  /** Parameters such as "&kind=image", which `Filters` reads and writes. */
  const [filters, filter] = useState("");
  const [asks, ask] = useState<"filters" | "shortcuts" | null>(null);
  const list = useList((words && `&q=${encodeURIComponent(words)}`) + filters);
  const search = useRef<HTMLInputElement>(null);
  const side = useRef<HTMLElement>(null);
  const narrow = useMatch("(max-width: 860px)");

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape" && open && !document.querySelector("dialog[open]")) onOpen(false);
      if (event.key === "?" && !(event.target as Element).closest?.("input, textarea, select, dialog")) ask("shortcuts");
      if (event.key?.toLowerCase() !== "k" || !(apple ? event.metaKey : event.ctrlKey)) return;
      event.preventDefault();
      if (narrow) onOpen(true);
      else if (folded) onFold();
      requestAnimationFrame(() => search.current?.focus());
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [open, onOpen, narrow, folded, onFold]);
  useEffect(() => {
    if (!narrow || !open) return;
    const before = document.activeElement;
    side.current?.querySelector<HTMLElement>("a, button")?.focus();
    const uncover = cover(() => onOpen(false));
    return () => {
      uncover();
      if (before instanceof HTMLElement) before.focus();
    };
  }, [narrow, open]);

  const hidden = narrow ? !open : folded;
  return (
    <>
      {narrow && open && <div className="veil" onClick={() => onOpen(false)} />}
      <nav ref={side} className={`side ${open ? "side-open" : ""}`} aria-label={t("sidebar.conversations")} inert={hidden} onKeyDown={walk} onClick={(event) => (event.target as Element).closest(".row > a, .found a") && onOpen(false)}>
        <div className="side-head">
          <a className="brand" href={at("/")} onClick={follow}>
            <Mark /> {BRAND}
          </a>
          <IconButton className="side-fold" label={t("sidebar.hide")} icon={<PanelIcon />} onClick={onFold} />
          <IconButton
            className="side-close"
            label={t("sidebar.close")}
            icon={<CloseIcon />}
            onClick={() => onOpen(false)}
          />
        </div>
        <a
          className="side-new"
          href={at("/")}
          onClick={(event) => {
            follow(event);
            onOpen(false);
          }}
        >
          <PlusIcon size={18} /> {t("sidebar.new")}
        </a>
        <div className="side-search">
          <SearchIcon size={16} />
          <input
            aria-label={t("sidebar.searchConversations")}
            ref={search}
            type="search"
            placeholder={t("sidebar.search")}
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
            onKeyDown={(event) => event.key === "Escape" && setTyped("")}
          />
          <kbd aria-hidden="true">{t(apple ? "sidebar.searchKeysApple" : "sidebar.searchKeys")}</kbd>
          <IconButton
            small
            className={filters && "side-filtered"}
            aria-expanded={asks === "filters"}
            label={t("sidebar.filters")}
            icon={<FilterIcon />}
            onClick={() => ask(asks ? null : "filters")}
          />
        </div>
        {asks === "filters" && <Filters filters={filters} onChange={filter} onClose={() => ask(null)} />}
        <List list={list} current={current} onFilter={filter}>
          {me?.mode === "accounts" && !words && !filters && <SharedList current={current} />}
        </List>
        <div className="side-foot">
          <a href={at("/files")} onClick={follow}>
            <FileIcon size={18} /> {t("sidebar.files")}
          </a>
          <a href={at("/matrix")} onClick={follow}>
            <TableIcon size={18} /> {t("sidebar.whatModelsSee")}
          </a>
          <a href={at("/settings")} onClick={follow}>
            <GearIcon size={18} /> {t("sidebar.settings")}
          </a>
          {me?.mode === "accounts" && <span className="side-user">{me.name ?? me.user}</span>}
        </div>
      </nav>
      {asks === "shortcuts" && <Shortcuts onClose={() => ask(null)} />}
    </>
  );
}

/** Arrow keys move between the search box and its results. */
function walk(event: KeyboardEvent) {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  const stops = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>(".side-search input, .row > a")];
  const at = stops.indexOf(event.target as HTMLElement);
  if (!step || at < 0) return;
  event.preventDefault();
  stops[at + step]?.focus();
}

function Mark() {
  return (
    <svg className="mark" width="26" height="26" viewBox="0 0 32 32" aria-hidden="true">
      <rect className="mark-ground" width="32" height="32" rx="9" />
      <path className="mark-front" d="M8 10.5h11v9H8z M8 17l3.2-3 2.6 2.4 2-1.8 3.2 3" />
      <path className="mark-back" d="M22.5 12.5h2v10H13v-2" />
    </svg>
  );
}
