// Runs every regular expression of the page on long texts that are worst for it, to find quadratic ones. It compares the
// CPU time of two lengths, so neither a slow machine nor a busy one fails it.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { load } from "./bundle.mjs";

const web = resolve(import.meta.dirname, "../../../web");
const { parseSync } = createRequire(join(web, "package.json"))("rolldown/utils");
const LENGTH = 1_000;
/** How much longer the long text is. Linear time grows by this, quadratic time by its square, 64. */
const LONGER = 8;
const MAX_GROWTH = 24;
/** Microseconds. What takes less for the long text is never slow, and too short to compare. */
const NOISE = 2_000;
const REPEATS = 3;

/** The regular expression literals of a module, found by a parser because slashes have other meanings, too. */
function regexesOf(file) {
  const regexes = [];
  const walk = (node) => {
    if (!node || typeof node !== "object") return;
    if (node.type === "Literal" && node.regex) regexes.push(new RegExp(node.regex.pattern, node.regex.flags));
    Object.values(node).forEach(walk);
  };
  walk(parseSync(file, readFileSync(file, "utf8")).program);
  return regexes;
}

const { patternOf } = await load("messages/splitReferences.ts");
const all = [...globSync(join(web, "src/**/*.{ts,tsx}")).flatMap(regexesOf), patternOf("Bild Datei")];

/** Texts to repeat: words and symbols of the pattern and characters of its classes, alone and in pairs. */
function unitsFor({ source }) {
  const literals = [...(source.match(/[a-z]{2,}/gi) ?? []), ...source.replace(/\w/g, "")];
  const units = [...new Set([...literals, "a", "1", " ", "\n", "-", "é"])];
  return units.flatMap((first) => [first, ...units.map((second) => first + second)]);
}

const texts = (unit, length) => ["", "é"].map((end) => unit.repeat(Math.ceil(length / unit.length)) + end);

/** Microseconds of CPU time that a regular expression takes. */
function measure(regex, text) {
  const before = process.cpuUsage();
  if (regex.global) text.replace(regex, "");
  else regex.test(text);
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

const minimum = (regex, text) => Math.min(...Array.from({ length: REPEATS }, () => measure(regex, text)));

/** The six slowest units at 1.5 kB, where quadratic time is visible already. */
function slowestUnits(regex) {
  const timed = unitsFor(regex).map((unit) => ({ unit, time: Math.max(...texts(unit, 1_500).map((text) => measure(regex, text))) }));
  return timed.sort((a, b) => b.time - a.time).slice(0, 6).map(({ unit }) => unit);
}

/** A text for which the time grows faster than its length, if there is one. */
function findSlowText(regex) {
  for (const unit of slowestUnits(regex)) {
    const short = texts(unit, LENGTH);
    for (const [index, long] of texts(unit, LENGTH * LONGER).entries()) {
      if (measure(regex, long) < NOISE) continue;
      const time = minimum(regex, long);
      if (time >= NOISE && time > MAX_GROWTH * minimum(regex, short[index])) return long.slice(0, 20);
    }
  }
}

test("the time of each regular expression grows with the length of its worst text, and no faster", () => {
  assert.ok(all.length > 15);
  for (const regex of all) assert.equal(findSlowText(regex), undefined, `${regex} is slow for this text, repeated`);
});

for (const slow of [/!\[[^\]]*\]\(x\)/g, /\s+$/, /(a|b)*c/])
  test(`a quadratic regular expression is detected: ${slow}`, () => assert.ok(findSlowText(slow)));
