// How a file was sent, as a chip with a text, a colour and an icon.
import { ArrowRightIcon, BlockIcon, CheckIcon, ListIcon, LockIcon, SwapIcon, TextIcon } from "../ui/icons";
import { MEANINGS, NAMES, type Fate } from "./words";

const ICONS = {
  native: CheckIcon,
  relocated: ArrowRightIcon,
  converted: SwapIcon,
  noted: TextIcon,
  refused: BlockIcon,
  listed: ListIcon,
  withheld: LockIcon,
};

export function Chip(p: { fate: Fate }) {
  const Icon = ICONS[p.fate] ?? TextIcon;
  return (
    <span className={`saw-chip saw-${p.fate}`} title={MEANINGS[p.fate]}>
      <Icon size={14} /> {NAMES[p.fate] ?? p.fate}
    </span>
  );
}
