// Tables and JSON as the page shows them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { dice, load } from "./bundle.mjs";

const { readTable } = await load("files/csv.ts");
const { spread } = await load("files/jsonLines.ts");

const LETTERS = ["a", ",", ";", '"', "\n", "\r\n", " ", "é", "\t", "1"];
const quoted = (cell) => (/[",;\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

test("any table that is written by RFC 4180 is read back as it was", () => {
  const roll = dice(7);
  const word = () => Array.from({ length: roll(5) }, () => LETTERS[roll(LETTERS.length)]).join("");
  for (let turn = 0; turn < 2000; turn += 1) {
    const rows = Array.from({ length: 1 + roll(4) }, () => [`x${word()}`, ...Array.from({ length: roll(4) }, word)]);
    const text = rows.map((row) => row.map(quoted).join(",")).join("\r\n");
    assert.deepEqual(readTable(text, ",").rows, rows, JSON.stringify(text));
  }
});

test("the separator is the one that the first line uses most", () => {
  assert.deepEqual(readTable("a;b;c\n1,5;2;3\n").rows, [["a", "b", "c"], ["1,5", "2", "3"]]);
});

test("a table is read no further than it is shown", () => {
  const { rows, more } = readTable("a\n".repeat(100), ",", 40);
  assert.equal(rows.length, 40);
  assert.equal(more, true);
});

test("an open quote takes the rest, and nothing hangs", () => {
  assert.deepEqual(readTable('a,"b\nc', ",").rows, [["a", "b\nc"]]);
});

test("spread JSON means the same, and keeps each number as it was written", () => {
  const json = '{"big":12345678901234567890,"tiny":1.0e-7,"empty":{},"none":[],"text":"{\\"a\\": [1, 2]}","list":[1,[2,{"b":null}]]}';
  const shown = spread(json);
  assert.deepEqual(JSON.parse(shown), JSON.parse(json));
  assert.match(shown, /"big": 12345678901234567890,\n/);
  assert.match(shown, /"tiny": 1\.0e-7/);
  assert.match(shown, /"empty": \{\},\n {2}"none": \[\]/);
});

test("JSON that is cut is shown as far as it goes", () => {
  assert.equal(spread('{"a":[1,"b').replaceAll(/\s/g, ""), '{"a":[1,"b');
});
