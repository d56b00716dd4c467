// Props that the page frame passes to every view.
export type ViewProps = {
  /** Opens the sidebar on phones. */
  menu: () => void;
  /** Expands the sidebar; null unless it is collapsed. */
  unfold: (() => void) | null;
};
