// Numbers, sizes, lengths, lists and plurals in the languages of the page.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./bundle.mjs";

const [english, german] = [await load("language/index.ts", "en"), await load("language/index.ts", "de")];
/** With spaces that may break, as they are easier to compare. */
const plain = (text) => (typeof text === "string" ? text.replaceAll("\u00a0", " ") : text);
const inBoth = (read) => [english, german].map((language) => plain(read(language)));

test("sizes have a unit that fits, and the sign of the language before decimals", () => {
  const sizes = [1, 999, 12_400, 999_499, 2_140_000, 3_000_000_000, null];
  assert.deepEqual(sizes.map(english.sizeOf), ["1 byte", "999 bytes", "12 kB", "999 kB", "2.1 MB", "3.0 GB", ""]);
  assert.deepEqual(sizes.map(german.sizeOf).map(plain), ["1 Byte", "999 Byte", "12 kB", "999 kB", "2,1 MB", "3,0 GB", ""]);
});

test("numbers, shares, prices and days are written as in the language", () => {
  assert.deepEqual(inBoth(({ numberOf }) => numberOf(12_345.5)), ["12,345.5", "12.345,5"]);
  assert.deepEqual(inBoth(({ percentOf }) => percentOf(0.5)), ["50%", "50 %"]);
  assert.deepEqual(inBoth(({ dollarsOf }) => dollarsOf(0.00123)), ["$0.00123", "0,00123 $"]);
  assert.deepEqual(inBoth(({ dayOf }) => dayOf("2026-11-07")), ["Nov 7, 2026", "07.11.2026"]);
  assert.deepEqual(inBoth(({ dayOf }) => dayOf("some day")), ["some day", "some day"]);
});

test("lists leave out what is empty, and have the words of the language between alternatives", () => {
  assert.deepEqual(inBoth(({ factsOf }) => factsOf(["a", "", null, false, "b", "c"])), ["a, b, c", "a, b und c"]);
  assert.deepEqual(inBoth(({ anyOf }) => anyOf(["1", "2"])), ["1 or 2", "1 oder 2"]);
  assert.deepEqual(inBoth(({ wordsBetween }) => wordsBetween(3)), [[", ", ", or "], [", ", " oder "]]);
});

test("the number decides about the words beside it", () => {
  const counted = (count) => inBoth(({ t }) => t("files.count", { count }));
  assert.deepEqual([1, 2, 1234].map(counted), [["1 file", "1 Datei"], ["2 files", "2 Dateien"], ["1,234 files", "1.234 Dateien"]]);
  const gone = (files) => german.t("sidebar.deleteText", { title: "A", files });
  assert.deepEqual([0, 1, 2].map(gone), [
    "„A“ wird endgültig gelöscht.",
    "„A“ und die zugehörige Datei werden endgültig gelöscht.",
    "„A“ und die 2 zugehörigen Dateien werden endgültig gelöscht.",
  ]);
});

test("elements are put where the language has them", () => {
  const drawn = inBoth(({ rich }) => rich("models.ask", { id: "a:b", code: (words) => ({ words }) }));
  assert.deepEqual(drawn, [["Ask ", { words: ["a:b"] }], [{ words: ["a:b"] }, " fragen"]]);
});

test("a message that is read before a language is loaded is an error", async () => {
  const { t } = await load("language/translate.ts", null);
  assert.throws(() => t("page.close"), /not loaded yet/);
});
