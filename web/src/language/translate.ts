// The page's words by key, with their arguments checked against the English messages.
import type { GetICUArgs } from "@schummar/icu-type-parser";
import format from "icu-minify/format";
import type { ComponentChildren, JSX } from "preact";
import type english from "./catalogues/en";
import { formatters } from "./formats";
import { spoken } from "./language";

/** The product's name, which is the same in all languages. */
export const BRAND = "Show & Tell";

type English = typeof english;
export type Key = keyof English;

/** What a catalogue of another language has to have. The build checks the arguments of its messages. */
export type Catalogue = Record<Key, string>;

type Values<K extends Key> = GetICUArgs<English[K], { ICUArgument: string | number; ICUNumberArgument: number }>;

/** Keys of messages without arguments. */
export type PlainKey = { [K in Key]: keyof Values<K> extends never ? K : never }[Key];

type Arguments<K extends Key> = keyof Values<K> extends never ? [] : [values: Values<K>];

/** A message in the page's language: `t("files.count", { count: 2 })`. */
export function t<K extends Key>(key: K, ...[values]: Arguments<K>): string {
  return formatted(key, values) as string;
}

type Tags<Text> = Text extends `${string}</${infer Name}>${infer Rest}` ? Name | Tags<Rest> : never;
type Draw = (words: ComponentChildren) => JSX.Element;

/** A message with elements: each tag in it is drawn by the function with its name. */
export function rich<K extends Key>(key: K, values: Values<K> & Record<Tags<English[K]>, Draw>): ComponentChildren {
  return formatted(key, values) as ComponentChildren;
}

function formatted(key: Key, values: object | undefined): unknown {
  const { words, locale } = spoken();
  const message = words[key];
  if (message === undefined) throw new Error(`the page's language has no words for ${key}`);
  return format<unknown>(message, locale, values as Parameters<typeof format>[2], { formatters });
}
