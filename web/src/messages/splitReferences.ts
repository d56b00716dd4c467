// Finds file references in a text: "image 5", "documents 3", and a separate "#5", but not a name
// such as "picture 5.png", nor "file 1.2". The nouns are those of English and of the page's language.
import { t } from "../language";

const NOUNS = "image images picture pictures document documents audio video videos text texts file files";
const NUMBERED = "\\s+#?(\\d{1,5})\\b(?!\\.\\w)|(?<![\\w#&/])#(\\d{1,5})\\b";
const patterns = new Map<string, RegExp>();

/** The references with English nouns, and with others that are separated by spaces. */
export function patternOf(nouns: string): RegExp {
  const pattern = patterns.get(nouns) ?? new RegExp(`(?<![\\p{L}\\d_])(?:${`${NOUNS} ${nouns}`.replaceAll(" ", "|")})${NUMBERED}`, "giu");
  patterns.set(nouns, pattern);
  return pattern;
}

type Piece = string | { words: string; number: number };

/** Splits a text at its references. The joined pieces equal the text. */
export function splitReferences(text: string): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(patternOf(t("files.nouns")))) {
    if (match.index > from) pieces.push(text.slice(from, match.index));
    pieces.push({ words: match[0], number: Number(match[1] ?? match[2]) });
    from = match.index + match[0].length;
  }
  if (from < text.length) pieces.push(text.slice(from));
  return pieces;
}
