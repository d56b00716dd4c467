// Where the texts of an answer come from: footnotes with numbers, the same source once, and the marks in the texts.
import type { SourceDocumentUIPart, SourceUrlUIPart } from "ai";
import { createContext } from "preact";
import { t } from "../language";
import type { Part } from "../types";

/** `url` is http(s); `file` is the number of a file of the conversation, with its page or time. */
export type Footnote = {
  number: number;
  title: string;
  url: string | null;
  file: number | null;
  page: number | null;
  seconds: number | null;
  quotes: string[];
};

/** The footnotes of one text, and the start of their ids on the page. */
export const NotesContext = createContext<{ id: string; notes: readonly Footnote[] }>({ id: "", notes: [] });

export type SourcePart = SourceUrlUIPart | SourceDocumentUIPart;

export const isSource = (part: Part): part is SourcePart => part.type === "source-url" || part.type === "source-document";

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The address if it is one of the web. */
export function linkOf(value: unknown): string | null {
  return typeof value === "string" && /^https?:\/\//i.test(value) && URL.canParse(value) ? value : null;
}

const ownFieldsOf = (part: SourcePart): Record<string, unknown> => part.providerMetadata?.["showandtell"] ?? {};

/** The footnote of a source: that of the same address or place in a file if there is one, else a new one. */
export function noteOf(part: SourcePart, notes: Footnote[]): Footnote {
  const own = ownFieldsOf(part);
  const numberOf = (name: string) => (typeof own[name] === "number" ? own[name] : null);
  const [file, page, seconds] = [numberOf("number"), numberOf("page"), numberOf("seconds")];
  const url = part.type === "source-url" ? linkOf(part.url) : null;
  const title = part.title || url || t("messages.unnamedSource");
  const isSame = (note: Footnote) =>
    url ? note.url === url : note.file === file && note.page === page && note.seconds === seconds && (file !== null || note.title === title);
  let note = notes.find(isSame);
  if (!note) notes.push((note = { number: notes.length + 1, title, url, file, page, seconds, quotes: [] }));
  const quote = own["quote"];
  if (typeof quote === "string" && quote && !note.quotes.includes(quote)) note.quotes.push(quote);
  return note;
}

/** A mark in a text: brackets that are punctuation, so that they change no markdown, after a space that ends an address. */
export const MARK = /(?:^| )⁅(\d+)⁆/g;

/** Where a text has the mark of a source; null if the source is that of the complete text. */
export function endOf(part: SourcePart): number | null {
  const { end } = ownFieldsOf(part);
  return typeof end === "number" ? end : null;
}

/** A text with the marks of its footnotes, each at its place in characters. */
export function withMarks(text: string, marks: readonly { end: number; number: number }[]): string {
  if (marks.length === 0) return text;
  const characters = [...text]; // sources count characters as Python does
  const sorted = marks.toSorted((one, other) => other.end - one.end || other.number - one.number);
  for (const { end, number } of sorted) {
    let place = Math.min(end, characters.length);
    while (place > 0 && /\s/.test(characters[place - 1] ?? "")) place--;
    const line = characters.slice(characters.lastIndexOf("\n", place - 1) + 1, place).join("");
    characters.splice(place, 0, `${/^\s*(```|~~~)/.test(line) ? "\n\n" : ""} ⁅${number}⁆`);
  }
  return characters.join("");
}

/** The host of a source on the web; empty for a file. */
export const hostOf = (note: Footnote) => (note.url ? new URL(note.url).host : "");
