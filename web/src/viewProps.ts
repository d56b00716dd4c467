// What every view gets from the frame around it.
export type ViewProps = {
  /** Opens the drawer on phones. */
  menu: () => void;
  /** Shows the folded list again, where it is folded. */
  unfold: (() => void) | null;
};
