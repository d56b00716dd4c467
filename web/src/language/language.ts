// The language of the page: the user's choice, else the browser's. The page loads the words of one language.
import type { CompiledMessage } from "icu-minify/format";

export type Words = Readonly<Record<string, CompiledMessage>>;

/** By path: the words of the page's start, and those of its lazy parts. The build divides and compiles a catalogue
 * (`web/catalogues.ts`), so that the page needs no parser of messages. */
const catalogues = import.meta.glob<Words>("./catalogues/*.ts", { import: "default" });
const rests = import.meta.glob<Words>("./catalogues/*.ts", { query: "?rest", import: "default" });
const pathOf = (language: string) => `./catalogues/${language}.ts`;

/** The languages that have a catalogue, by their code. */
export const LANGUAGES = Object.keys(catalogues).map((path) => path.slice("./catalogues/".length, -".ts".length));

const KEY = "showandtell.language";
/** Spoken if the browser has no language of ours. */
const FALLBACK = "en";

type Spoken = { language: string; words: Words; locale: string };

let current: Spoken | null = null;
/** The language that was asked for last; one that is loaded later than it doesn't count. */
let wanted = "";
/** Whether a lazy part was loaded, so that the next language is loaded as a whole. */
let isWhole = false;
const watchers = new Set<(language: string) => void>();

/** The user's choice; null for the browser's language. */
export function keptLanguage(): string | null {
  const kept = globalThis.localStorage?.getItem(KEY) ?? null;
  return kept !== null && LANGUAGES.includes(kept) ? kept : null;
}

/** The language that the page should have. */
export function preferredLanguage(): string {
  return keptLanguage() ?? navigator.languages.map(baseOf).find((language) => LANGUAGES.includes(language)) ?? FALLBACK;
}

const baseOf = (locale: string) => locale.split("-", 1)[0]?.toLowerCase() ?? "";

/** Some browsers name what `Intl` refuses, such as en-US@posix. */
function isLocale(text: string): boolean {
  try {
    return Boolean(new Intl.Locale(text));
  } catch {
    return false;
  }
}

/** Loads a language, and makes it that of the page. */
export async function speak(language: string): Promise<void> {
  const whole = isWhole;
  wanted = language;
  const [words, rest] = await Promise.all([wordsOf(catalogues, language), whole ? wordsOf(rests, language) : {}]);
  if (wanted !== language) return;
  if (whole !== isWhole) return speak(language); // a lazy part came meanwhile
  // Dates and numbers as in the user's region, such as en-GB, where the browser names one.
  const locale = navigator.languages.find((each) => baseOf(each) === language && isLocale(each)) ?? language;
  current = { language, words: { ...words, ...rest }, locale };
  const root = globalThis.document?.documentElement;
  if (root) Object.assign(root, { lang: language, dir: directionOf(language) });
  for (const watch of watchers) watch(language);
}

/** Loads the words of the page's lazy parts. */
export async function loadRest(): Promise<void> {
  isWhole = true;
  const { language } = spoken();
  const rest = await wordsOf(rests, language);
  if (current?.language === language) current = { ...current, words: { ...current.words, ...rest } };
}

async function wordsOf(from: Record<string, () => Promise<Words>>, language: string): Promise<Words> {
  const load = from[pathOf(language)];
  if (!load) throw new Error(`there is no catalogue of ${language}`);
  return load();
}

/** Calls `watch` when the page gets another language. Returns a function that ends this. */
export function watchLanguage(watch: (language: string) => void): () => void {
  watchers.add(watch);
  return () => void watchers.delete(watch);
}

/** Keeps the choice for the next visit in this browser, so that the first paint is right; null for the browser's language. */
export function keepLanguage(language: string | null): void {
  if (language === null) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, language);
}

/** The words of the page's language, and the locale of its dates and numbers. Raises an error before they are loaded. */
export function spoken(): Spoken {
  if (!current) throw new Error("the page's language is not loaded yet: call this within a function");
  return current;
}

export const spokenLanguage = () => spoken().language;

type WithDirection = { getTextInfo?: () => { direction: "ltr" | "rtl" } };

const directionOf = (language: string) => (new Intl.Locale(language) as WithDirection).getTextInfo?.().direction ?? "ltr";
