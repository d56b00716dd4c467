// What an answer tells of its steps: which files the model was given in each, how, and what that took.
import type { Attachment } from "../files";

export type Delivery = "native" | "relocated" | "noted" | "refused" | "listed";

/** A picture, sound or text that was made of a file and sent in its place. */
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

/** `changed` are the receipts that this step brought, `same` those of earlier steps of this answer that still hold. */
export type Step = {
  step: number;
  changed: Receipt[];
  same: Receipt[];
  model?: string | undefined;
  usage?: Usage | undefined;
  stop?: string | null | undefined;
};

type StepData = { step: number; model?: string; usage?: Usage; stop?: string | null };
export type Told = { parts: readonly { type: string; data?: unknown }[] };

/** The steps of an answer in order; a receipt is told only where it is another than before. */
export function stepsOf(message: Told): Step[] {
  const receipts = dataOf<Receipt>(message, "data-receipt");
  const ends = dataOf<StepData>(message, "data-step");
  const numbers = [...new Set([...receipts, ...ends].map((one) => one.step))].sort((one, other) => one - other);
  const held = new Map<number, Receipt>();
  return numbers.map((step) => {
    const changed = receipts.filter((one) => one.step === step).sort(byNumber);
    for (const one of changed) held.delete(one.number);
    const same = [...held.values()].sort(byNumber);
    for (const one of changed) held.set(one.number, one);
    const end = ends.find((one) => one.step === step);
    return { step, changed, same, model: end?.model, usage: end?.usage, stop: end?.stop };
  });
}

/** How many files the model was told of as not sent, by the last word on each. */
export function countUnseen(steps: readonly Step[]): number {
  const last = steps.at(-1);
  return last ? [...last.changed, ...last.same].filter((one) => !wasSent(one)).length : 0;
}

/** Whether the model was given a file in any form; out of view counts, for it was seen before. */
const wasSent = (receipt: Receipt) => receipt.delivery !== "noted" && receipt.delivery !== "refused";

/** How many different files the answer tells of. */
export const countFiles = (steps: readonly Step[]) => new Set(steps.flatMap((one) => one.changed.map((receipt) => receipt.number))).size;

/** The files that this answer itself brought, for a list of all may not know them yet. */
export function filesIn(message: Told): Map<number, Attachment> {
  const files = dataOf<Attachment>(message, "data-attachment");
  return new Map(files.flatMap((file) => (file.number === null ? [] : [[file.number, file] as const])));
}

function dataOf<Data>(message: Told, type: string): Data[] {
  return message.parts.flatMap((part) => (part.type === type && part.data ? [part.data as Data] : []));
}

const byNumber = (one: Receipt, other: Receipt) => one.number - other.number;
