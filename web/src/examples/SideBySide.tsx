// A dialog with what two models were given for the same question, beside each other.
import "./pair.css";
import { useId } from "preact/hooks";
import { t } from "../language";
import { Chip } from "../receipts/Chip";
import { Steps } from "../receipts/Steps";
import { type Receipt, stepsOf } from "../receipts/receipts";
import { deliveryOf, placeOf } from "../receipts/words";
import type { Message } from "../types";
import { Dialog } from "../ui";

/** The name of the API that an inspector speaks, as in the list of models. */
const nameOf = (model = "") => model.slice(model.indexOf(":") + 1);

type Props = { answers: readonly Message[]; onClose: () => void };

export function SideBySide({ answers, onClose }: Props) {
  const id = useId();
  return (
    <Dialog open onClose={onClose} title={t("examples.sideBySide")} className="pair">
      <p className="file-quiet">{t("examples.sideBySideText")}</p>
      <dl className="pair-outcomes">
        {answers.map((answer) => (
          <div key={answer.id}>
            <dt>{nameOf(answer.metadata?.model)}</dt>
            <dd>
              <Outcome receipts={stepsOf(answer).at(-1)?.changed ?? []} />
            </dd>
          </div>
        ))}
      </dl>
      <div className="pair-columns">
        {answers.map((answer, at) => (
          <section key={answer.id} aria-labelledby={`${id}-${at}`}>
            <h3 id={`${id}-${at}`}>{nameOf(answer.metadata?.model)}</h3>
            <Steps message={answer} steps={stepsOf(answer)} within={`${id}-${at}`} />
          </section>
        ))}
      </div>
    </Dialog>
  );
}

/** How the file of a tool was given, and where. */
function Outcome({ receipts: [receipt] }: { receipts: readonly Receipt[] }) {
  if (!receipt) return null;
  return (
    <>
      <Chip delivery={deliveryOf(receipt)} /> {placeOf(receipt)}
    </>
  );
}
