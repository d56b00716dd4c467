// Rows of the table of models, from the server: searching them, and the evidence of each place.
import { factsOf, numberOf, sizeOf, t } from "../language";

export const KINDS = ["image", "document", "audio", "video", "text"] as const;
export const PLACES = ["tool_result", "user"] as const;
export type Kind = (typeof KINDS)[number];
export type Place = (typeof PLACES)[number];
export type Fate = "native" | "relocated" | "converted" | "noted" | "refused" | "words";

type Limits = Record<"bytes" | "side" | "pixels" | "pages" | "frames", number | null>;

type Cell = {
  place: Place;
  kind: Kind;
  media_types: string[];
  form: "inline" | "url" | "file_id";
  verdict: "sees" | "blind" | "rejects" | "unproven";
  evidence: string;
  date: string;
  limits: Limits;
};

export type Row = {
  provider: string;
  models: string;
  api: string;
  example: string;
  tool_result: Record<Kind, Fate>;
  user: Record<Kind, Fate>;
  unproven: Kind[];
  blind: Partial<Record<Kind, string>>;
  known_by: string;
  cells: Cell[];
  verified: Record<string, unknown[]>;
};

/** Rows that contain every word, or whose patterns match a word as a model's name. */
export function filterRows(rows: readonly Row[], wanted: string): Row[] {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter((row) => {
    const text = `${row.provider} ${row.models} ${row.api} ${row.example} ${row.known_by}`.toLowerCase();
    return words.every((word) => text.includes(word) || isOf(row, word));
  });
}

/** Whether a model's name, with or without its provider, matches the row's patterns: `*claude*`, `gpt-[6-9]*`. */
export function isOf(row: Row, name: string): boolean {
  const [provider, model] = name.includes(":") ? [name.slice(0, name.indexOf(":")), name.slice(name.indexOf(":") + 1)] : [null, name];
  if (provider !== null && provider !== row.provider) return false;
  return !row.models.startsWith("any") && model.length > 2 && model.length < 200 && row.models.split(", ").some((pattern) => patternOf(pattern).test(model));
}

function patternOf(glob: string): RegExp {
  const pieces = glob.toLowerCase().match(/\[[^[\]]+\]|\*|\?|[^[*?]+|\[/g) ?? [];
  const escaped = (piece: string) => (/^\[.+\]$/.test(piece) ? piece : piece.replace(/[.+^${}()|\\[\]]/g, "\\$&"));
  const source = pieces.map((piece) => (piece === "*" ? ".*" : piece === "?" ? "." : escaped(piece)));
  return new RegExp(`^${source.join("")}$`);
}

/** A row's cells for a kind at a place, best verdict first. */
export function cellsOf(row: Row, kind: Kind, place: Place): Cell[] {
  const rank = { sees: 0, unproven: 1, blind: 2, rejects: 3 };
  const places = row[place][kind] === "relocated" ? PLACES : [place];
  const found = row.cells.filter((cell) => cell.kind === kind && places.includes(cell.place));
  return found.sort((one, other) => rank[one.verdict] - rank[other.verdict]);
}

/** Whether the file is sent there without proof that the model sees it. */
export function isUnproven(row: Row, kind: Kind, place: Place): boolean {
  const delivery = row[place][kind];
  return row.unproven.includes(kind) && (place === "user" ? delivery === "native" : delivery === "relocated");
}

/** A cell as text: "seen in a tool's result, by URL". */
export const wordsOf = ({ verdict, place, form }: Cell) => t("matrix.cell", { verdict, place, form });

export function limitsOf({ limits }: Cell): string {
  const { bytes, side, pixels, pages, frames } = limits;
  const found = factsOf([
    bytes !== null && sizeOf(bytes),
    side !== null && t("matrix.side", { pixels: side }),
    pixels !== null && t("matrix.pixels", { millions: numberOf(pixels / 1e6, { maximumFractionDigits: 1 }) }),
    pages !== null && t("files.pages", { count: pages }),
    frames !== null && t("receipts.frames", { count: frames }),
  ]);
  return found && t("matrix.upTo", { limits: found });
}

/** Rows by provider, in the table's order. */
export function byProvider(rows: readonly Row[]): [string, Row[]][] {
  const groups = new Map<string, Row[]>();
  for (const row of rows) groups.set(row.provider, [...(groups.get(row.provider) ?? []), row]);
  return [...groups];
}
