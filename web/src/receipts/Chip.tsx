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

export function Chip(p: { delivery: Fate }) {
  const Icon = ICONS[p.delivery] ?? TextIcon;
  return (
    <span className={`receipts-chip receipts-${p.delivery}`} title={MEANINGS[p.delivery]}>
      <Icon size={14} /> {NAMES[p.delivery] ?? p.delivery}
    </span>
  );
}
