// The words of the panel: what became of a file, how much of it was given, and what a step took.
import { momentOf, sizeOf } from "../files/attachment";
import type { Delivery, Receipt, Usage } from "./told";

/** What a person reads as the file's fate; a converted file is that first, wherever it stands. */
export type Fate = Delivery | "converted";

export const fateOf = (receipt: Receipt): Fate =>
  receipt.converted && (receipt.delivery === "native" || receipt.delivery === "relocated") ? "converted" : receipt.delivery;

export const MEANINGS: Record<Fate, string> = {
  native: "The model got the file itself, in its own place.",
  relocated: "The model got the file itself, in a labelled message right after the tool’s results.",
  converted: "The model got another form of it: scaled, pages as pictures, frames, or its words.",
  noted: "The model did not see it. It was told the name, and why it wasn’t sent.",
  refused: "It can’t be sent to this model, so nothing was asked.",
  listed: "Out of view by now: one line names it, and the model can look at it again.",
};

/** Where it stood on the wire. */
export function placeOf(receipt: Receipt): string | null {
  if (receipt.delivery === "relocated") return "in a message after the tool’s results";
  if (receipt.place === "tool_result") return "in the tool’s result";
  return receipt.place === "user" ? "in a user message" : null;
}

/** How much of the original was given: scale, pages, frames, crop, in the words of a list. */
export function piecesOf(receipt: Receipt): string[] {
  const { scale, pages, times, total, crop, cut, kind } = receipt;
  const pieces: (string | false | undefined)[] = [
    scale !== undefined && scale !== 1 && `${scale < 1 ? "scaled" : "enlarged"} to ${Math.round(scale * 100)} %`,
    pages?.length ? `${pages.length === 1 ? "page" : "pages"} ${ranges(pages)}${total ? ` of ${total}` : ""}` : undefined,
    times?.length ? `${times.length} ${times.length === 1 ? "frame" : "frames"}${total ? ` of ${momentOf(total)}` : ""}` : undefined,
    total && !pages?.length && !times?.length ? totalOf(total, kind) : undefined,
    crop && `the part from ${crop[0]}, ${crop[1]} to ${crop[2]}, ${crop[3]}`,
    cut && "its end is missing",
  ];
  return pieces.filter((one): one is string => Boolean(one));
}

const totalOf = (total: number, kind: string) => (kind === "document" ? `${total} pages in all` : `${momentOf(total)} long`);

/** Numbers as people write pages: 1–3, 7. */
export function ranges(numbers: readonly number[]): string {
  const runs: [number, number][] = [];
  for (const one of [...numbers].sort((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last && one <= last[1] + 1) last[1] = one;
    else runs.push([one, one]);
  }
  return runs.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(", ");
}

export function bytesOf(receipt: Receipt): string | null {
  return receipt.bytes > 0 ? `${sizeOf(receipt.bytes)} in the request` : null;
}

const count = (number: number) => number.toLocaleString("en");

/** What a step took, as name and value; what the provider doesn't tell is left out. */
export function usageOf(usage: Usage | undefined): [string, string][] {
  if (!usage) return [];
  const { input_tokens = 0, output_tokens = 0, cached_tokens = 0, written_tokens = 0, reasoning_tokens = 0, cost } = usage;
  const kinds = Object.entries(usage.modalities ?? {}).map(([kind, tokens]) => `${kind} ${count(tokens)}`);
  const of = (some: (string | false)[]) => some.filter(Boolean).join(", ");
  const cache = of([cached_tokens > 0 && `${count(cached_tokens)} from the cache`, written_tokens > 0 && `${count(written_tokens)} kept`]);
  const input = of([`${count(input_tokens)} tokens`, cache, ...kinds]);
  const output = of([`${count(output_tokens)} tokens`, reasoning_tokens > 0 && `${count(reasoning_tokens)} of them thinking`]);
  const rows: [string, string][] = [];
  if (input_tokens) rows.push(["in", input]);
  if (output_tokens) rows.push(["out", output]);
  if (cost !== undefined && cost !== null) rows.push(["cost", `$${cost < 0.01 ? cost.toFixed(5) : cost.toFixed(3)}`]);
  return rows;
}

const STOPS: Record<string, string> = {
  end: "finished",
  tool_calls: "called tools",
  length: "cut at the longest answer",
  refusal: "declined",
  limit: "stopped at a limit",
  error: "failed",
  cut: "the stream ended too early",
  cancelled: "stopped by you",
};

export const stopOf = (stop: string) => STOPS[stop] ?? stop;
