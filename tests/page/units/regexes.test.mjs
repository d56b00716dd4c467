// Runs every regular expression of the page on 100 kB of the text that is worst for it, to find quadratic ones.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { test } from "node:test";

const web = resolve(import.meta.dirname, "../../../web");
const { parseSync } = createRequire(join(web, "package.json"))("rolldown/utils");
const MAX_MILLISECONDS = 50;

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

const all = globSync(join(web, "src/**/*.{ts,tsx}")).flatMap(regexesOf);

/** Texts to repeat: words and symbols of the pattern and characters of its classes, alone and in pairs. */
function unitsFor({ source }) {
  const literals = [...(source.match(/[a-z]{2,}/gi) ?? []), ...source.replace(/\w/g, "")];
  const units = [...new Set([...literals, "a", "1", " ", "\n", "-", "é"])];
  return units.flatMap((first) => [first, ...units.map((second) => first + second)]);
}

const texts = (unit, length) => ["", "é"].map((end) => unit.repeat(Math.ceil(length / unit.length)) + end);

/** Milliseconds that a regular expression takes. */
function measure(regex, text) {
  const start = performance.now();
  if (regex.global) text.replace(regex, "");
  else regex.test(text);
  return performance.now() - start;
}

/** The six slowest units at 5 kB, where quadratic time is visible already. */
function slowestUnits(regex) {
  const timed = unitsFor(regex).map((unit) => ({ unit, milliseconds: Math.max(...texts(unit, 5_000).map((text) => measure(regex, text))) }));
  return timed.sort((a, b) => b.milliseconds - a.milliseconds).slice(0, 6).map(({ unit }) => unit);
}

test("each regular expression takes at most 50 ms for 100 kB of its worst text", () => {
  assert.ok(all.length > 15);
  for (const regex of all)
    for (const text of slowestUnits(regex).flatMap((unit) => texts(unit, 100_000))) {
      const fastest = Math.min(...Array.from({ length: 3 }, () => measure(regex, text)));
      assert.ok(fastest < MAX_MILLISECONDS, `${regex} takes ${Math.round(fastest)} ms for ${JSON.stringify(text.slice(0, 20))}…`);
    }
});

test("a quadratic regular expression is detected", () => {
  const slow = /!\[[^\]]*\]\(x\)/g;
  assert.ok(texts(slowestUnits(slow)[0], 30_000).some((text) => measure(slow, text) > MAX_MILLISECONDS));
});
