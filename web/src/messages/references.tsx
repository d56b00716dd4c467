// Links references such as "image 5", "document 3" and "#5" to the file, if it exists.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { useFile } from "../chat/session/fileStore";
import { scrollToFile } from "../files";
import { splitReferences } from "./splitReferences";

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
  const pieces = useMemo(() => splitReferences(text), [text]);
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
