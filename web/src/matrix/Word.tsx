// How a kind of file is sent, as a word with a colour.
import type { Fate } from "./rows";

/** The meaning for a tool's file and for an upload; `all` covers both. */
export const DELIVERY_TEXTS: Record<Fate, { word: string; tool: string; user: string; all?: string }> = {
  native: {
    word: "shown",
    tool: "In the tool’s result.",
    user: "In your message.",
    all: "The file itself, in the tool’s result or in your message.",
  },
  relocated: { word: "follow-up", tool: "The file itself, in a labelled message after the results.", user: "" },
  converted: { word: "converted", tool: "In another form: pages or text, frames, a transcript.", user: "The same." },
  words: { word: "as text", tool: "As text.", user: "The same." },
  noted: { word: "name only", tool: "The model gets its name, and why it wasn’t sent.", user: "" },
  refused: { word: "refused", tool: "", user: "Not supported; the page says so before a request is sent." },
};

export function Word(p: { delivery: Fate; unproven?: boolean }) {
  return (
    <span className={`matrix-word matrix-${p.delivery}`}>
      {DELIVERY_TEXTS[p.delivery]?.word ?? p.delivery}
      {p.unproven && <span className="matrix-doubt">?</span>}
    </span>
  );
}
