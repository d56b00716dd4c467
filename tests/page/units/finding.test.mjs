// Days of a search in the reader's time zone, and the words that it marks.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load, seededRandom } from "./bundle.mjs";

process.env.TZ = "Europe/Berlin";
const { dayAt, endOf, startOf } = await load("sidebar/period.ts");
const { termsOf, withMarks } = await load("sidebar/marks.tsx");

test("a day begins and ends at midnight of the reader, also when the clocks change", () => {
  assert.deepEqual([startOf("2026-06-01"), endOf("2026-06-01")], ["2026-05-31T22:00:00.000Z", "2026-06-01T22:00:00.000Z"]);
  assert.deepEqual([startOf("2026-03-29"), endOf("2026-03-29")], ["2026-03-28T23:00:00.000Z", "2026-03-29T22:00:00.000Z"]);
  assert.deepEqual([startOf("2026-12-31"), endOf("2026-12-31")], ["2026-12-30T23:00:00.000Z", "2026-12-31T23:00:00.000Z"]);
});

test("the days of a period are read back from its moments", () => {
  for (const day of ["2026-03-29", "2026-10-25", "2024-02-29", "1999-12-31", "0026-05-01"]) {
    assert.deepEqual([dayAt(startOf(day)), dayAt(endOf(day), 1)], [day, day]);
  }
  assert.deepEqual([startOf(""), endOf("12345-01-01"), dayAt(null)], [null, null, ""]);
});

/** The texts in marks, and the whole text. */
function read(text, words) {
  const parts = [withMarks(text, termsOf(words))].flat();
  const textOf = (part) => (typeof part === "string" ? part : part.props.children);
  return [parts.filter((part) => typeof part !== "string").map(textOf), parts.map(textOf).join("")];
}

test("words are marked in either case, the longest first, and nothing is lost", () => {
  assert.deepEqual(read("An Invoice of INVOICES", "invoice invoices of"), [["Invoice", "of", "INVOICES"], "An Invoice of INVOICES"]);
  assert.deepEqual(read("ÄRGER in Łódź", "ärger łódź")[0], ["ÄRGER", "Łódź"]);
  assert.deepEqual(read("<b>a.b*c</b>", "<b> .b* (")[0], ["<b>", ".b*"]);
  assert.deepEqual(read("nothing", "  "), [[], "nothing"]);
});

test("any text is shown whole, with any words", () => {
  const random = seededRandom(5);
  const signs = [..."ab. *+?^$(){}[]|/\\-&<>😀é\u0130"];
  const word = (length) => Array.from({ length }, () => signs[random(signs.length)]).join("");
  for (let run = 0; run < 2000; run += 1) {
    const text = word(random(30));
    assert.equal(read(text, word(random(8)))[1], text);
  }
});
