// The steps of an answer: which files were sent to the model in each, how, and the usage.
import type { Attachment } from "../files";

export type Delivery = "native" | "relocated" | "noted" | "refused" | "listed" | "withheld" | "for_tools";

/** An image, audio or text that was made from a file and sent instead. */
export type Variant = { sha256: string; media_type: string; url: string; page?: number | null; seconds?: number | null };

export type Receipt = {
  step: number;
  number: number;
  name: string;
  kind: Attachment["kind"];
  media_type: string;
  origin: string;
  place: "tool_result" | "user" | null;
  delivery: Delivery;
  converted: boolean;
  reason: string;
  cell: string | null;
  evidence: string | null;
  bytes: number;
  variants: Variant[];
  scale?: number;
  pages?: number[];
  times?: number[];
  total?: number | null;
  cut?: boolean;
  described_by?: string;
  crop?: [number, number, number, number];
};

export type Usage = {
  input_tokens?: number;
  output_tokens?: number;
  cached_tokens?: number;
  written_tokens?: number;
  reasoning_tokens?: number;
  modalities?: Record<string, number>;
  cost?: number | null;
};

/** `changed`: the receipts of this step; `same`: those of earlier steps of this answer that still apply. */
export type Step = {
  step: number;
  changed: Receipt[];
  same: Receipt[];
  model?: string | undefined;
  usage?: Usage | undefined;
  stop?: string | null | undefined;
};

type StepData = { step: number; model?: string; usage?: Usage; stop?: string | null };
export type StepMessage = { parts: readonly { type: string; data?: unknown }[] };

/** The steps of an answer in order, with the receipts that changed in each. */
export function stepsOf(message: StepMessage): Step[] {
  const receipts = dataOf<Receipt>(message, "data-receipt");
  const ends = dataOf<StepData>(message, "data-step");
  const numbers = [...new Set([...receipts, ...ends].map((one) => one.step))].sort((one, other) => one - other);
  const current = new Map<number, Receipt>();
  return numbers.map((step) => {
    const changed = receipts.filter((one) => one.step === step).sort(byNumber);
    for (const one of changed) current.delete(one.number);
    const same = [...current.values()].sort(byNumber);
    for (const one of changed) current.set(one.number, one);
    const end = ends.find((one) => one.step === step);
    return { step, changed, same, model: end?.model, usage: end?.usage, stop: end?.stop };
  });
}

/** How many files the model should have seen and didn't, by their last receipt. */
export function countUnseen(steps: readonly Step[]): number {
  const last = steps.at(-1);
  return last ? [...last.changed, ...last.same].filter(wasMissed).length : 0;
}

/** A file that is out of view was sent before, and one for the user alone is withheld on purpose. */
const wasMissed = (receipt: Receipt) => receipt.delivery === "noted" || receipt.delivery === "refused";

/** How many different files the answer has receipts for. */
export const countFiles = (steps: readonly Step[]) => new Set(steps.flatMap((one) => one.changed.map((receipt) => receipt.number))).size;

/** The files of this answer, which a list of all files may not have yet. */
export function filesIn(message: StepMessage): Map<number, Attachment> {
  const files = dataOf<Attachment>(message, "data-attachment");
  return new Map(files.flatMap((file) => (file.number === null ? [] : [[file.number, file] as const])));
}

function dataOf<Data>(message: StepMessage, type: string): Data[] {
  return message.parts.flatMap((part) => (part.type === type && part.data ? [part.data as Data] : []));
}

const byNumber = (one: Receipt, other: Receipt) => one.number - other.number;
