// "image 5", "document 3" and "#5" in a text lead to the file, where there is one of that number.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { useFile } from "../chat/filing";
import { scrollToFile } from "../files";

/** A word for a file and its number, or "#5" standing by itself. */
const pattern =
  /\b(?:images?|pictures?|documents?|audio|videos?|texts?|files?)\s+#?(\d{1,5})\b|(?<![\w#&/])#(\d{1,5})\b/gi;

type Piece = string | { words: string; number: number };

/** A text cut at its references. */
export function cut(text: string): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index > from) pieces.push(text.slice(from, match.index));
    pieces.push({ words: match[0], number: Number(match[1] ?? match[2]) });
    from = match.index + match[0].length;
  }
  if (from < text.length) pieces.push(text.slice(from));
  return pieces;
}

export function Reference({ number, children }: { number: number; children: string }): JSX.Element {
  const file = useFile(number);
  if (!file) return <>{children}</>;
  return (
    <a
      className="reference"
      href={`#file-${number}`}
      title={file.name}
      onClick={(event) => {
        event.preventDefault();
        scrollToFile(number);
      }}
    >
      {children}
    </a>
  );
}

export function WithReferences({ text }: { text: string }) {
  const pieces = useMemo(() => cut(text), [text]);
  return (
    <>
      {pieces.map((piece, index) =>
        typeof piece === "string" ? (
          piece
        ) : (
          <Reference key={index} number={piece.number}>
            {piece.words}
          </Reference>
        ),
      )}
    </>
  );
}
