// Below a message: how phrases like "the last chart" were resolved, or that they were ambiguous.
import { useFiles } from "../files/context";
import { spoken } from "../files";
import type { Message, Reference as Taken } from "../types";
import { cut } from "./cutting";
import { Reference } from "./references";

export function Meant({ message }: { message: Message }) {
  const taken = message.parts.flatMap((part) => (part.type === "data-reference" ? [part.data] : []));
  const unsaid = taken.filter((one) => !saysIt(one));
  if (unsaid.length === 0) return null;
  return (
    <ul className="meant" aria-label="What was meant">
      {unsaid.map((one, index) => (
        <li key={index}>
          “{one.words}” {one.numbers.length ? "= " : "could mean "}
          <Readings readings={one.numbers.length ? [one.numbers] : one.readings} />
        </li>
      ))}
    </ul>
  );
}

function Readings({ readings }: { readings: number[][] }) {
  const { files } = useFiles();
  const nameOf = (number: number) => spoken(files.get(number)?.kind ?? "other", number);
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

/** Explicit references such as "image 5" need no note. */
function saysIt({ words, numbers }: Taken): boolean {
  const [piece, ...rest] = cut(words);
  return rest.length === 0 && typeof piece === "object" && numbers.length === 1 && numbers[0] === piece.number;
}
