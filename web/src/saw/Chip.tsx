// What became of a file, as a word with a colour and a drawing of its own.
import { ArrowRightIcon, BlockIcon, CheckIcon, ListIcon, SwapIcon, TextIcon } from "../ui/icons";
import { MEANINGS, type Fate } from "./words";

const DRAWINGS = {
  native: CheckIcon,
  relocated: ArrowRightIcon,
  converted: SwapIcon,
  noted: TextIcon,
  refused: BlockIcon,
  listed: ListIcon,
};

export function Chip(p: { fate: Fate }) {
  const Drawing = DRAWINGS[p.fate] ?? TextIcon;
  return (
    <span className={`saw-chip saw-${p.fate}`} title={MEANINGS[p.fate]}>
      <Drawing size={14} /> {p.fate}
    </span>
  );
}
