// Top bar of a view: its title, and on phones the button that opens the sidebar.
import type { ComponentChildren } from "preact";
import { t } from "../language";
import type { ViewProps } from "../viewProps";
import { IconButton, MenuIcon, PanelIcon } from "../ui";

export function Bar({ menu, unfold, children }: ViewProps & { children?: ComponentChildren }) {
  return (
    <header className="bar">
      <IconButton className="bar-menu" label={t("sidebar.conversations")} icon={<MenuIcon />} onClick={menu} />
      {unfold && (
        <IconButton className="bar-unfold" label={t("sidebar.show")} icon={<PanelIcon />} onClick={unfold} />
      )}
      {children}
    </header>
  );
}
