// How a file was sent, as a chip with a text, a colour and an icon.
import { t } from "../language";
import { ArrowRightIcon, BlockIcon, CheckIcon, ListIcon, LockIcon, SwapIcon, TextIcon, ToolIcon } from "../ui/icons";
import type { Fate } from "./words";

const ICONS = {
  native: CheckIcon,
  relocated: ArrowRightIcon,
  converted: SwapIcon,
  noted: TextIcon,
  refused: BlockIcon,
  listed: ListIcon,
  withheld: LockIcon,
  for_tools: ToolIcon,
};

export function Chip(p: { delivery: Fate }) {
  const Icon = ICONS[p.delivery] ?? TextIcon;
  return (
    <span className={`receipts-chip receipts-${p.delivery}`} title={p.delivery in ICONS ? t(`receipts.meaning.${p.delivery}`) : undefined}>
      <Icon size={14} /> {p.delivery in ICONS ? t(`receipts.name.${p.delivery}`) : p.delivery}
    </span>
  );
}
