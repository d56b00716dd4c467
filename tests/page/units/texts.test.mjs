// Reading CSV, and formatting JSON and arguments.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load, seededRandom } from "./bundle.mjs";

const { readTable } = await load("files/csv.ts");
const { formatJson } = await load("files/jsonLines.ts");
const { pretty } = await load("messages/pretty.ts");

const CHARACTERS = ["a", ",", ";", '"', "\n", "\r\n", " ", "é", "\t", "1"];
const quoted = (cell) => (/[",;\t\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

test("any table written by RFC 4180 is read back unchanged", () => {
  const random = seededRandom(7);
  const word = () => Array.from({ length: random(5) }, () => CHARACTERS[random(CHARACTERS.length)]).join("");
  for (let run = 0; run < 2000; run += 1) {
    const rows = Array.from({ length: 1 + random(4) }, () => [`x${word()}`, ...Array.from({ length: random(4) }, word)]);
    const text = rows.map((row) => row.map(quoted).join(",")).join("\r\n");
    assert.deepEqual(readTable(text, ",").rows, rows, JSON.stringify(text));
  }
});

test("the separator is the one that the first line uses most", () => {
  assert.deepEqual(readTable("a;b;c\n1,5;2;3\n").rows, [["a", "b", "c"], ["1,5", "2", "3"]]);
});

test("a table is read only up to the limit", () => {
  const { rows, more } = readTable("a\n".repeat(100), ",", 40);
  assert.equal(rows.length, 40);
  assert.equal(more, true);
});

test("an open quote takes the rest of the text", () => {
  assert.deepEqual(readTable('a,"b\nc', ",").rows, [["a", "b\nc"]]);
});

test("formatted JSON has the same value and keeps each number as written", () => {
  const json = '{"big":12345678901234567890,"tiny":1.0e-7,"empty":{},"none":[],"text":"{\\"a\\": [1, 2]}","list":[1,[2,{"b":null}]]}';
  const shown = formatJson(json);
  assert.deepEqual(JSON.parse(shown), JSON.parse(json));
  assert.match(shown, /"big": 12345678901234567890,\n/);
  assert.match(shown, /"tiny": 1\.0e-7/);
  assert.match(shown, /"empty": \{\},\n {2}"none": \[\]/);
});

test("incomplete JSON is formatted up to its end", () => {
  assert.equal(formatJson('{"a":[1,"b').replaceAll(/\s/g, ""), '{"a":[1,"b');
});

test("arguments are JSON, and those that a browser would round are the model's own text", () => {
  assert.equal(pretty({ id: 7 }), '{\n  "id": 7\n}');
  assert.equal(pretty('{"id": 1234567890123456789}'), '{"id": 1234567890123456789}');
  assert.equal(pretty(undefined), "");
});
