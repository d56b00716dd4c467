// Texts of the panel "What the model saw": how a file was sent, how much of it, and the usage of a step.
import { momentOf } from "../files/attachment";
import { dollarsOf, factsOf, percentOf, sizeOf, t } from "../language";
import type { Delivery, Receipt, Usage } from "./receipts";

/** How a file was sent; a converted file counts as converted, wherever it was placed. */
export type Fate = Delivery | "converted";

export const FATES: readonly Fate[] = ["native", "relocated", "converted", "noted", "refused", "listed", "withheld", "for_tools"];

export const deliveryOf = (receipt: Receipt): Fate =>
  receipt.converted && (receipt.delivery === "native" || receipt.delivery === "relocated") ? "converted" : receipt.delivery;

/** Where the file was placed in the request. */
export function placeOf(receipt: Receipt): string | null {
  if (receipt.delivery === "relocated") return t("receipts.afterResult");
  if (receipt.place === "tool_result") return t("receipts.inResult");
  return receipt.place === "user" ? t("receipts.inMessage") : null;
}

/** How much of the original was sent: scale, pages, frames, crop. */
export function piecesOf(receipt: Receipt): string[] {
  const { scale, pages, times, total, crop, cut, kind, described_by } = receipt;
  const pieces: (string | false | undefined)[] = [
    scale !== undefined && scale !== 1 && t(scale < 1 ? "receipts.scaled" : "receipts.enlarged", { percent: percentOf(scale) }),
    pages?.length ? pagesOf(pages, total) : undefined,
    times?.length ? framesOf(times.length, total) : undefined,
    total && !pages?.length && !times?.length ? totalOf(total, kind) : undefined,
    crop && t("receipts.crop", { left: crop[0], top: crop[1], right: crop[2], bottom: crop[3] }),
    described_by && t("receipts.describedBy", { model: described_by }),
    cut && t("receipts.cut"),
  ];
  return pieces.filter((piece): piece is string => Boolean(piece));
}

function pagesOf(pages: readonly number[], total: number | null | undefined): string {
  const sent = { count: pages.length, ranges: ranges(pages) };
  return total ? t("receipts.pagesOf", { ...sent, total }) : t("receipts.pages", sent);
}

const framesOf = (count: number, total: number | null | undefined) =>
  total ? t("receipts.framesOf", { count, length: momentOf(total) }) : t("receipts.frames", { count });

const totalOf = (total: number, kind: string) =>
  kind === "document" ? t("files.pages", { count: total }) : t("receipts.long", { length: momentOf(total) });

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
  return receipt.bytes > 0 ? t("receipts.inRequest", { size: sizeOf(receipt.bytes) }) : null;
}

/** The usage of a step, as names and values, without what the provider doesn't report. */
export function usageOf(usage: Usage | undefined): [string, string][] {
  if (!usage) return [];
  const { input_tokens = 0, output_tokens = 0, cached_tokens = 0, written_tokens = 0, reasoning_tokens = 0, cost } = usage;
  const kinds = Object.entries(usage.modalities ?? {}).map(([kind, count]) => t("receipts.modality", { kind, count }));
  const input = factsOf([
    t("receipts.tokens", { count: input_tokens }),
    cached_tokens > 0 && t("receipts.fromCache", { count: cached_tokens }),
    written_tokens > 0 && t("receipts.cached", { count: written_tokens }),
    ...kinds,
  ]);
  const output = factsOf([
    t("receipts.tokens", { count: output_tokens }),
    reasoning_tokens > 0 && t("receipts.reasoning", { count: reasoning_tokens }),
  ]);
  const rows: [string, string][] = [];
  if (input_tokens) rows.push([t("receipts.in"), input]);
  if (output_tokens) rows.push([t("receipts.out"), output]);
  if (cost !== undefined && cost !== null) rows.push([t("receipts.cost"), dollarsOf(cost)]);
  return rows;
}

const STOPS = ["end", "tool_calls", "length", "refusal", "limit", "error", "cut", "cancelled"] as const;

export function stopOf(stop: string): string {
  const known = STOPS.find((each) => each === stop);
  return known ? t(`receipts.stop.${known}`) : stop;
}
