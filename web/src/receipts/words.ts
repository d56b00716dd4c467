// Texts of the panel "What the model saw": how a file was sent, how much of it, and the usage of a step.
import { momentOf, sizeOf } from "../files/attachment";
import type { Delivery, Receipt, Usage } from "./receipts";

/** How a file was sent; a converted file counts as converted, wherever it was placed. */
export type Fate = Delivery | "converted";

export const deliveryOf = (receipt: Receipt): Fate =>
  receipt.converted && (receipt.delivery === "native" || receipt.delivery === "relocated") ? "converted" : receipt.delivery;

/** The text of each chip. */
export const NAMES: Record<Fate, string> = {
  native: "shown",
  relocated: "follow-up",
  converted: "converted",
  noted: "name only",
  refused: "refused",
  listed: "out of view",
  withheld: "only for you",
};

export const MEANINGS: Record<Fate, string> = {
  native: "The model got the file itself.",
  relocated: "The model got the file itself, in a labelled message after the tool’s results.",
  converted: "The model got it in another form: scaled, pages as images, frames, its text, or a description.",
  noted: "The model did not see it, only its name and why it wasn’t sent.",
  refused: "This model doesn’t support it, so no request was sent.",
  listed: "No longer in view: the model gets one line about it, and can view it again.",
  withheld: "Kept from the model: it knows the number, neither name nor content.",
};

/** Where the file was placed in the request. */
export function placeOf(receipt: Receipt): string | null {
  if (receipt.delivery === "relocated") return "in a message after the tool’s results";
  if (receipt.place === "tool_result") return "in the tool’s result";
  return receipt.place === "user" ? "in a user message" : null;
}

/** How much of the original was sent: scale, pages, frames, crop. */
export function piecesOf(receipt: Receipt): string[] {
  const { scale, pages, times, total, crop, cut, kind, described_by } = receipt;
  const pieces: (string | false | undefined)[] = [
    scale !== undefined && scale !== 1 && `${scale < 1 ? "scaled" : "enlarged"} to ${Math.round(scale * 100)} %`,
    pages?.length ? `${pages.length === 1 ? "page" : "pages"} ${ranges(pages)}${total ? ` of ${total}` : ""}` : undefined,
    times?.length ? `${times.length} ${times.length === 1 ? "frame" : "frames"}${total ? ` of ${momentOf(total)}` : ""}` : undefined,
    total && !pages?.length && !times?.length ? totalOf(total, kind) : undefined,
    crop && `the part from ${crop[0]}, ${crop[1]} to ${crop[2]}, ${crop[3]}`,
    described_by && `a description by ${described_by}`,
    cut && "its end is missing",
  ];
  return pieces.filter((piece): piece is string => Boolean(piece));
}

const totalOf = (total: number, kind: string) => (kind === "document" ? `${total} pages` : `${momentOf(total)} long`);

/** Page numbers as ranges: 1–3, 7. */
export function ranges(numbers: readonly number[]): string {
  const runs: [number, number][] = [];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last && number <= last[1] + 1) last[1] = number;
    else runs.push([number, number]);
  }
  return runs.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(", ");
}

export function bytesOf(receipt: Receipt): string | null {
  return receipt.bytes > 0 ? `${sizeOf(receipt.bytes)} in the request` : null;
}

const count = (number: number) => number.toLocaleString("en");

/** The usage of a step, as names and values, without what the provider doesn't report. */
export function usageOf(usage: Usage | undefined): [string, string][] {
  if (!usage) return [];
  const { input_tokens = 0, output_tokens = 0, cached_tokens = 0, written_tokens = 0, reasoning_tokens = 0, cost } = usage;
  const kinds = Object.entries(usage.modalities ?? {}).map(([kind, tokens]) => `${kind} ${count(tokens)}`);
  const join = (texts: (string | false)[]) => texts.filter(Boolean).join(", ");
  const cache = join([cached_tokens > 0 && `${count(cached_tokens)} from the cache`, written_tokens > 0 && `${count(written_tokens)} cached`]);
  const input = join([`${count(input_tokens)} tokens`, cache, ...kinds]);
  const output = join([`${count(output_tokens)} tokens`, reasoning_tokens > 0 && `${count(reasoning_tokens)} of them reasoning`]);
  const rows: [string, string][] = [];
  if (input_tokens) rows.push(["in", input]);
  if (output_tokens) rows.push(["out", output]);
  if (cost !== undefined && cost !== null) rows.push(["cost", `$${cost < 0.01 ? cost.toFixed(5) : cost.toFixed(3)}`]);
  return rows;
}

const STOPS: Record<string, string> = {
  end: "finished",
  tool_calls: "called tools",
  length: "reached the maximum length",
  refusal: "declined",
  limit: "stopped at a limit",
  error: "failed",
  cut: "the stream ended too early",
  cancelled: "stopped by you",
};

export const stopOf = (stop: string) => STOPS[stop] ?? stop;
