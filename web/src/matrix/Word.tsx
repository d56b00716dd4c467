// One fate as a word with a colour of its own.
import type { Fate } from "./rows";

/** What a fate means for a file from a tool and for an upload; `all` is said of both at once. */
export const FATES: Record<Fate, { word: string; tool: string; user: string; all?: string }> = {
  native: {
    word: "native",
    tool: "It stands in the tool’s result.",
    user: "It stands in your message.",
    all: "The file itself stands in the tool’s result, or in your message.",
  },
  relocated: { word: "relocated", tool: "It follows in a labelled message, right after the results.", user: "" },
  converted: { word: "converted", tool: "Another form of it is given: pages or text, frames, what is said.", user: "The same." },
  words: { word: "as text", tool: "Its text is given as words.", user: "The same." },
  noted: { word: "noted", tool: "The model is told its name, and why it wasn’t sent.", user: "" },
  refused: { word: "refused", tool: "", user: "It can’t be sent; you are told before anything is asked." },
};

export function Word(p: { fate: Fate; unproven?: boolean }) {
  return (
    <span className={`matrix-word matrix-${p.fate}`}>
      {FATES[p.fate]?.word ?? p.fate}
      {p.unproven && <span className="matrix-doubt">?</span>}
    </span>
  );
}
