// Below a message: how phrases like "the last chart" were resolved, that they were ambiguous, or that no such file exists.
import { useFiles } from "../files/context";
import { referenceText } from "../files";
import type { Message, Reference as ReferenceData } from "../types";
import { splitReferences } from "./splitReferences";
import { Reference } from "./references";

export function ResolvedReferences({ message }: { message: Message }) {
  const references = message.parts.flatMap((part) => (part.type === "data-reference" ? [part.data] : []));
  const implicit = references.filter((one) => !isExplicit(one));
  if (implicit.length === 0) return null;
  return (
    <ul className="meant" aria-label="What was meant">
      {implicit.map((one, index) => (
        <li key={index}>
          “{one.words}” {one.numbers.length ? "= " : one.readings.length ? "could mean " : ""}
          <Readings readings={one.numbers.length ? [one.numbers] : one.readings} />
          {missing(one)}
        </li>
      ))}
    </ul>
  );
}

function Readings({ readings }: { readings: number[][] }) {
  const { files } = useFiles();
  const nameOf = (number: number) => referenceText(files.get(number)?.kind ?? "other", number);
  return (
    <>
      {readings.map((numbers, at) =>
        numbers.map((number, index) => (
          <span key={`${at} ${number}`}>
            {index > 0 ? ", " : at > 0 ? " or " : ""}
            <Reference number={number}>{nameOf(number)}</Reference>
          </span>
        )),
      )}
    </>
  );
}

/** The numbers that no file has, in words. */
function missing({ numbers, missing = [] }: ReferenceData): string {
  if (missing.length === 0) return "";
  return `${numbers.length ? ", and " : ""}there is no file ${missing.join(" or ")}`;
}

/** Explicit references such as "image 5" need no note. */
function isExplicit({ words, numbers }: ReferenceData): boolean {
  const [piece, ...rest] = splitReferences(words);
  return rest.length === 0 && typeof piece === "object" && numbers.length === 1 && numbers[0] === piece.number;
}
