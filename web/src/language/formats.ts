// Numbers, sizes, dates and lists in the page's language.
import { spoken } from "./language";

/** The formats of a kind, each made once: that takes 50 times as long as its use. */
function kept<Options, Format>(make: (locale: string, options?: Options) => Format) {
  const formats = new Map<string, Format>();
  return (locale: string, options?: Options): Format => {
    const key = locale + JSON.stringify(options ?? null);
    const format = formats.get(key) ?? make(locale, options);
    formats.set(key, format);
    return format;
  };
}

/** What messages with numbers and plurals are formatted by. */
export const formatters = {
  getNumberFormat: kept((locale, options?: Intl.NumberFormatOptions) => new Intl.NumberFormat(locale, options)),
  getPluralRules: kept((locale, options?: Intl.PluralRulesOptions) => new Intl.PluralRules(locale, options)),
  getDateTimeFormat: kept((locale, options?: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, options)),
};
const listFormat = kept((locale, options?: Intl.ListFormatOptions) => new Intl.ListFormat(locale, options));

export function numberOf(number: number, options?: Intl.NumberFormatOptions): string {
  return formatters.getNumberFormat(spoken().locale, options).format(number);
}

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte"];

/** A size: 900 bytes, 12 kB, 2.1 MB; empty if unknown. */
export function sizeOf(bytes: number | null): string {
  if (bytes === null) return "";
  const power = bytes < 1000 ? 0 : bytes < 999_500 ? 1 : bytes < 999_950_000 ? 2 : 3;
  const digits = power > 1 ? 1 : 0;
  const [unit, unitDisplay] = [UNITS[power], power ? "short" : "long"] as const;
  const options = { style: "unit", unit, unitDisplay, minimumFractionDigits: digits, maximumFractionDigits: digits } as const;
  return numberOf(bytes / 1000 ** power, options as Intl.NumberFormatOptions);
}

export const percentOf = (share: number) => numberOf(share, { style: "percent" });

/** A price in dollars; small ones with more digits. */
export function dollarsOf(dollars: number): string {
  const digits = dollars < 0.01 ? 5 : 3;
  return numberOf(dollars, { style: "currency", currency: "USD", minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export function dateOf(date: Date, options: Intl.DateTimeFormatOptions): string {
  return formatters.getDateTimeFormat(spoken().locale, options).format(date);
}

/** A day such as 2026-11-27 in the words of the language; what isn't one stays as it is. */
export function dayOf(text: string): string {
  const day = new Date(text);
  return Number.isNaN(day.getTime()) ? text : dateOf(day, { dateStyle: "medium", timeZone: "UTC" });
}

const FACTS = { type: "unit", style: "short" } as const;
const ALTERNATIVES = { type: "disjunction" } as const;

/** Facts side by side: "2 tokens, 1 of them reasoning". What is empty is left out. */
export function factsOf(facts: readonly (string | false | null | undefined)[]): string {
  return listFormat(spoken().locale, FACTS).format(facts.filter((fact): fact is string => Boolean(fact)));
}

/** Alternatives: "1, 2 or 3". */
export const anyOf = (choices: readonly string[]) => listFormat(spoken().locale, ALTERNATIVES).format(choices);

/** The words between alternatives, of which there are `count`: what `anyOf` writes without them. */
export function wordsBetween(count: number): string[] {
  const parts = listFormat(spoken().locale, ALTERNATIVES).formatToParts(Array.from({ length: count }, () => "-"));
  return parts.flatMap((part) => (part.type === "literal" ? [part.value] : []));
}

/** Seconds as 0:07, 3:20 or 1:02:05, which is read alike in all languages (`Intl.DurationFormat` writes 03:20). */
export function clockOf(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  const rest = String(whole % 60).padStart(2, "0");
  return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}
