// The menu of what can be done with a conversation of the list.
import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { t } from "../language";
import { at } from "../prefix";
import type { Own } from "../types";
import { ArchiveIcon, DownloadIcon, EditIcon, PinIcon, TagIcon, TrashIcon } from "./icons";

type Props = { row: Own; title: string; onChoose: (key: string) => void; onClose: () => void };
type Item = { key: string; words: string; icon: JSX.Element; look?: string };

/** Distance from the edges of the window. */
const MARGIN = 8;

export function RowMenu({ row, title, onChoose, onClose }: Props) {
  const menu = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = menu.current;
    element?.showPopover();
    if (element) putBeside(element, element.closest(".row")?.querySelector(".row-more") ?? element);
    itemsOf(element)[0]?.focus();
  }, []);
  const items: Item[] = [
    { key: "F2", words: t("finding.rename"), icon: <EditIcon /> },
    { key: "p", words: t(row.pinned ? "finding.unpin" : "finding.pin"), icon: <PinIcon /> },
    { key: "t", words: t("finding.tags"), icon: <TagIcon /> },
    { key: "a", words: t(row.archived ? "finding.takeBack" : "finding.archive"), icon: <ArchiveIcon /> },
  ];
  const draw = ({ key, words, icon, look }: Item) => (
    <button key={key} type="button" role="menuitem" tabIndex={-1} className={`menu-item ${look ?? ""}`} aria-keyshortcuts={key.length > 1 ? key : key.toUpperCase()} onClick={() => onChoose(key)}>
      {icon} <span>{words}</span> <kbd aria-hidden="true">{keyNameOf(key)}</kbd>
    </button>
  );
  return (
    <div
      ref={menu}
      popover="auto"
      role="menu"
      className="menu"
      aria-label={t("sidebar.actions", { title })}
      onToggle={(event) => event.newState === "closed" && menu.current?.isConnected && onClose()}
      onContextMenu={(event) => event.preventDefault()}
      onKeyDown={(event) => {
        const turn = TURNS[event.key];
        const item = items.find(({ key }) => key === event.key) ?? (event.key === "Delete" ? deletion : null);
        if (turn) focusItem(menu.current, turn);
        else if (item) onChoose(item.key);
        else if (event.key === "Escape" || event.key === "Tab") onClose();
        else return;
        event.preventDefault();
        event.stopPropagation();
      }}
    >
      {items.map(draw)}
      <a role="menuitem" tabIndex={-1} className="menu-item" href={at(`/api/conversations/${encodeURIComponent(row.id)}/export`)} download onClick={onClose}>
        <DownloadIcon /> <span>{t("finding.export")}</span>
      </a>
      {draw({ ...deletion, words: t("page.delete"), icon: <TrashIcon />, look: "menu-danger" })}
    </div>
  );
}

const deletion = { key: "Delete" };

const keyNameOf = (key: string) => (key === "Delete" ? t("shortcuts.delete") : key.toUpperCase());

/** Where a key moves the focus: the index of the next item, from that of the current one and their number. */
const TURNS: Record<string, (now: number, count: number) => number> = {
  ArrowDown: (now, count) => (now + 1) % count,
  ArrowUp: (now, count) => (now + count - 1) % count,
  Home: () => 0,
  End: (_, count) => count - 1,
};

const itemsOf = (menu: Element | null) => [...(menu?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];

function focusItem(menu: Element | null, turn: (now: number, count: number) => number): void {
  const items = itemsOf(menu);
  items[turn(items.indexOf(document.activeElement as HTMLElement), items.length)]?.focus();
}

/** Below a button, or above it if there is no room. */
function putBeside(menu: HTMLElement, button: Element): void {
  const { right, top, bottom } = button.getBoundingClientRect();
  const { offsetWidth, offsetHeight } = menu;
  const isBelow = bottom + offsetHeight + MARGIN < innerHeight;
  const left = Math.max(MARGIN, Math.min(right - offsetWidth + 96, innerWidth - offsetWidth - MARGIN));
  menu.style.left = `${left}px`;
  menu.style.top = `${Math.max(MARGIN, isBelow ? bottom : top - offsetHeight)}px`;
}
