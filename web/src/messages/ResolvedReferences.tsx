// Below a message: how phrases like "the last chart" were resolved, that they were ambiguous, or that no such file exists.
import { useFiles } from "../files/context";
import { numberedOf } from "../files";
import { anyOf, rich, t, wordsBetween } from "../language";
import type { Message, Reference as ReferenceData } from "../types";
import { splitReferences } from "./splitReferences";
import { Reference } from "./references";

export function ResolvedReferences({ message }: { message: Message }) {
  const references = message.parts.flatMap((part) => (part.type === "data-reference" ? [part.data] : []));
  const implicit = references.filter((one) => !isExplicit(one));
  if (implicit.length === 0) return null;
  return (
    <ul className="meant" aria-label={t("messages.meant")}>
      {implicit.map((one, index) => (
        <li key={index}>
          <Meaning reference={one} />
        </li>
      ))}
    </ul>
  );
}

function Meaning({ reference }: { reference: ReferenceData }) {
  const { words, numbers, readings, missing = [] } = reference;
  const none = missing.length > 0 && anyOf(missing.map(String));
  if (none && numbers.length + readings.length === 0) return <>{t("messages.noFile", { words, numbers: none })}</>;
  return (
    <>
      {numbers.length > 0
        ? rich("messages.means", { words, files: () => <Readings readings={[numbers]} /> })
        : rich("messages.couldMean", { words, files: () => <Readings readings={readings} /> })}
      {none && t("messages.andNoFile", { numbers: none })}
    </>
  );
}

function Readings({ readings }: { readings: number[][] }) {
  const { files } = useFiles();
  const nameOf = (number: number) => numberedOf(files.get(number)?.kind ?? "other", number);
  const between = wordsBetween(readings.length);
  return (
    <>
      {readings.map((numbers, at) =>
        numbers.map((number, index) => (
          <span key={`${at} ${number}`}>
            {index > 0 ? ", " : between[at - 1]}
            <Reference number={number}>{nameOf(number)}</Reference>
          </span>
        )),
      )}
    </>
  );
}

/** Explicit references such as "image 5" need no note. */
function isExplicit({ words, numbers }: ReferenceData): boolean {
  const [piece, ...rest] = splitReferences(words);
  return rest.length === 0 && typeof piece === "object" && numbers.length === 1 && numbers[0] === piece.number;
}
