// How a kind of file is sent, as a word with a colour.
import { type PlainKey, t } from "../language";
import type { Fate } from "./rows";

type Meaning = { both: PlainKey; tool?: PlainKey; user?: PlainKey };

/** The meaning for a tool's file, for an upload if that differs, and for both. */
export const DELIVERY_TEXTS: Record<Fate, Meaning> = {
  native: { both: "matrix.shown", tool: "matrix.shownFromTool", user: "matrix.shownFromYou" },
  relocated: { both: "matrix.followUp", tool: "matrix.followUp" },
  converted: { both: "matrix.converted", tool: "matrix.converted" },
  words: { both: "matrix.asText", tool: "matrix.asText" },
  noted: { both: "matrix.nameOnly", tool: "matrix.nameOnly" },
  refused: { both: "matrix.refused", user: "matrix.refused" },
};

export function Word(p: { delivery: Fate; unproven?: boolean }) {
  return (
    <span className={`matrix-word matrix-${p.delivery}`}>
      {p.delivery in DELIVERY_TEXTS ? t(`matrix.word.${p.delivery}`) : p.delivery}
      {p.unproven && <span className="matrix-doubt">?</span>}
    </span>
  );
}
