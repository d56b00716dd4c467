// Every regular expression of the page, on 100 kB of the letters that are worst for it.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { test } from "node:test";

const web = resolve(import.meta.dirname, "../../../web");
const { parseSync } = createRequire(join(web, "package.json"))("rolldown/utils");
const MOST_MILLISECONDS = 50;

/** What a module spells as /.../: found by a parser, for slashes mean much else. */
function regexesOf(file) {
  const found = [];
  const walk = (node) => {
    if (!node || typeof node !== "object") return;
    if (node.type === "Literal" && node.regex) found.push(new RegExp(node.regex.pattern, node.regex.flags));
    Object.values(node).forEach(walk);
  };
  walk(parseSync(file, readFileSync(file, "utf8")).program);
  return found;
}

const all = globSync(join(web, "src/**/*.{ts,tsx}")).flatMap(regexesOf);

/** What is worth repeating: the words and signs of the pattern, and letters for its classes, two by two. */
function unitsFor({ source }) {
  const own = [...(source.match(/[a-z]{2,}/gi) ?? []), ...source.replace(/\w/g, "")];
  const letters = [...new Set([...own, "a", "1", " ", "\n", "-", "é"])];
  return letters.flatMap((one) => [one, ...letters.map((other) => one + other)]);
}

const texts = (unit, length) => ["", "é"].map((end) => unit.repeat(Math.ceil(length / unit.length)) + end);

function take(regex, text) {
  const begun = performance.now();
  if (regex.global) text.replace(regex, "");
  else regex.test(text);
  return performance.now() - begun;
}

/** The units that take longest when there is little of them: time that grows with the square shows there already. */
function worstFor(regex) {
  const tried = unitsFor(regex).map((unit) => ({ unit, took: Math.max(...texts(unit, 5_000).map((text) => take(regex, text))) }));
  return tried.sort((one, other) => other.took - one.took).slice(0, 6).map(({ unit }) => unit);
}

test("each regular expression reads 100 kB of its worst letters in 50 ms", () => {
  assert.ok(all.length > 15);
  for (const regex of all)
    for (const text of worstFor(regex).flatMap((unit) => texts(unit, 100_000))) {
      const best = Math.min(...Array.from({ length: 3 }, () => take(regex, text)));
      assert.ok(best < MOST_MILLISECONDS, `${regex} takes ${Math.round(best)} ms for ${JSON.stringify(text.slice(0, 20))}…`);
    }
});

test("what grows with the square is found", () => {
  const slow = /!\[[^\]]*\]\(x\)/g;
  assert.ok(texts(worstFor(slow)[0], 30_000).some((text) => take(slow, text) > MOST_MILLISECONDS));
});
