// Content of the panel: what was sent to the model in each step, and a legend.
import "./receipts.css";
import { useId } from "preact/hooks";
import { useFiles } from "../files";
import { factsOf, t } from "../language";
import { Chip } from "./Chip";
import { ReceiptRow } from "./ReceiptRow";
import { countFiles, filesIn, type Receipt, type Step, type StepMessage } from "./receipts";
import { FATES, ranges, stopOf, usageOf } from "./words";

/** `within`: the id of a heading that they belong to, in a place that needs no explanations. */
export function Steps(p: { message: StepMessage; steps: readonly Step[]; within?: string }) {
  const id = useId();
  const { files } = useFiles();
  const own = filesIn(p.message);
  const find = (number: number) => files.get(number) ?? own.get(number);
  const isBare = countFiles(p.steps) === 0;
  return (
    <div className="receipts">
      {!p.within && <p className="file-quiet">{t(isBare ? "receipts.introBare" : "receipts.intro")}</p>}
      {p.steps.map((step) => (
        <section key={step.step} className="receipts-step" aria-labelledby={[p.within, `${id}-${step.step}`].filter(Boolean).join(" ")}>
          <h3 id={`${id}-${step.step}`}>
            {t("receipts.step", { step: step.step })} <Ending step={step} />
          </h3>
          <Taken step={step} />
          <Rows receipts={step.changed} find={find} model={step.model} />
          {step.same.length > 0 && <p className="file-quiet">{t("receipts.asBefore", { files: named(step.same) })}</p>}
          {!isBare && step.changed.length + step.same.length === 0 && <p className="file-quiet">{t("receipts.noChange")}</p>}
        </section>
      ))}
      {!isBare && !p.within && <Meanings />}
    </div>
  );
}

function Ending(p: { step: Step }) {
  if (p.step.stop === undefined) return <span className="file-quiet">{t("receipts.running")}</span>;
  return p.step.stop ? <span className="file-quiet">{stopOf(p.step.stop)}</span> : null;
}

/** Model, tokens and cost. */
function Taken(p: { step: Step }) {
  const rows: [string, string][] = [...(p.step.model ? [[t("receipts.model"), p.step.model] as [string, string]] : []), ...usageOf(p.step.usage)];
  if (!rows.length) return null;
  return (
    <dl className="receipts-taken">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

type RowsProps = {
  receipts: readonly Receipt[];
  find(number: number): Parameters<typeof ReceiptRow>[0]["file"];
  model: string | undefined;
};

/** Files out of view may be many, so they are collapsed. */
function Rows(p: RowsProps) {
  const listed = p.receipts.filter((one) => one.delivery === "listed");
  const rows = (some: readonly Receipt[]) => (
    <ul className="receipts-rows">
      {some.map((one) => (
        <ReceiptRow key={one.number} receipt={one} file={p.find(one.number)} model={p.model} />
      ))}
    </ul>
  );
  return (
    <>
      {rows(p.receipts.filter((one) => one.delivery !== "listed"))}
      {listed.length > 0 && (
        <details className="receipts-listed">
          <summary>
            {t("receipts.outOfView", { count: listed.length })} <Chip delivery="listed" />
          </summary>
          {rows(listed)}
        </details>
      )}
    </>
  );
}

function Meanings() {
  return (
    <details className="receipts-meanings">
      <summary>{t("receipts.meanings")}</summary>
      <dl>
        {FATES.map((delivery) => (
          <div key={delivery}>
            <dt>
              <Chip delivery={delivery} />
            </dt>
            <dd>{t(`receipts.meaning.${delivery}`)}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

/** Files by kind and number: images 1–3, document 4. */
function named(receipts: readonly Receipt[]): string {
  const kinds = [...new Set(receipts.map((one) => one.kind))];
  return factsOf(
    kinds.map((kind) => {
      const numbers = receipts.filter((one) => one.kind === kind).map((one) => one.number);
      return t("files.labels", { kind, count: numbers.length, numbers: ranges(numbers) });
    }),
  );
}
