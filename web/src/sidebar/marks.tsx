// The words of a search in a text that it found.
import type { ComponentChildren } from "preact";

/** The words as the server looks for them. */
export const termsOf = (words: string): string[] => [...new Set(words.toLowerCase().split(/\s+/))].filter(Boolean).slice(0, 8);

/** The text with each of the words in a mark. Letters match in either case. */
export function withMarks(text: string, terms: readonly string[]): ComponentChildren {
  if (terms.length === 0) return text;
  const longest = [...terms].sort((one, other) => other.length - one.length);
  const words = new RegExp(`(${longest.map(escaped).join("|")})`, "iu");
  return text.split(words).map((part, index) => (index % 2 ? <mark key={index}>{part}</mark> : part));
}

const escaped = (term: string) => term.replace(/[\\^$.*+?()[\]{}|/-]/gu, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`);
