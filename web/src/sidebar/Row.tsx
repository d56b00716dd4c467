// One conversation in the list. What can be done with it is loaded when it is asked for.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { lazy } from "../files/lazy";
import { t } from "../language";
import { at } from "../prefix";
import { follow, pathOf } from "../router";
import type { Own } from "../types";
import { IconButton, MoreIcon } from "../ui";

const RowAction = lazy(() => import("./RowAction").then((found) => found.RowAction));

/** The keys of a row's actions, and of their menu. */
const KEYS = /^([pta]|F2|Delete|Backspace|ContextMenu|Shift\+F10)$/;

type Props = {
  row: Own;
  current: boolean;
  /** Where in the conversation its link leads, such as "#file-3". */
  place?: string;
  /** Draws the title. */
  draw?: (title: string) => ComponentChildren;
  /** Below the title. */
  children?: ComponentChildren;
};

export function Row({ row, current, place = "", draw, children }: Props) {
  const [key, press] = useState<string | null>(null);
  const title = row.title || t("sidebar.new");
  return (
    <li className={`row ${current ? "row-current" : ""}`}>
      <a
        href={at(pathOf(row.id)) + place}
        aria-current={current ? "page" : undefined}
        aria-keyshortcuts="Shift+F10"
        title={title}
        onClick={follow}
        onFocus={RowAction.preload}
        onKeyDown={(event) => {
          const pressed = (event.shiftKey ? "Shift+" : "") + event.key;
          if (event.ctrlKey || event.metaKey || event.altKey || !KEYS.test(pressed)) return;
          event.preventDefault();
          press(pressed);
        }}
      >
        {row.running && <span className="dot" role="img" aria-label={t("sidebar.running")} />}
        <span className="row-title">{draw?.(title) ?? title}</span>
      </a>
      <IconButton
        small
        className="row-more"
        tabIndex={current ? 0 : -1} // the tab order of a long list stays short: the other rows have keys
        aria-haspopup="menu"
        label={t("sidebar.actions", { title })}
        icon={<MoreIcon />}
        onClick={() => press("ContextMenu")}
      />
      {key && <RowAction key={key} row={row} title={title} current={current} pressed={key} onDone={() => press((now) => (now === key ? null : now))} />}
      {children}
    </li>
  );
}
