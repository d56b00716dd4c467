// What the panel "What the model saw" says of an answer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./bundle.mjs";

const { countFiles, countUnseen, stepsOf } = await load("saw/receipts.ts");
const { fateOf, piecesOf, ranges, usageOf } = await load("saw/words.ts");

const receipt = (step, number, more = {}) => ({
  type: "data-receipt",
  data: { step, number, kind: "image", delivery: "native", converted: false, variants: [], bytes: 1, ...more },
});
const end = (step) => ({ type: "data-step", data: { step, model: "inspector", stop: "end", usage: {} } });
const numbers = (receipts) => receipts.map((one) => one.number);

test("a step has what changed in it, and what still holds of the steps before", () => {
  const parts = [receipt(1, 2), receipt(1, 1), end(1), { type: "text", text: "x" }, receipt(2, 3), receipt(2, 1), end(2), end(3)];
  const steps = stepsOf({ parts });
  assert.deepEqual(steps.map((one) => numbers(one.changed)), [[1, 2], [1, 3], []]);
  assert.deepEqual(steps.map((one) => numbers(one.same)), [[], [2], [1, 2, 3]]);
  assert.equal(countFiles(steps), 3);
});

test("a step under way has no end yet", () => {
  const [first] = stepsOf({ parts: [receipt(1, 1)] });
  assert.equal(first.stop, undefined);
  assert.deepEqual(stepsOf({ parts: [{ type: "text", text: "hello" }] }), []);
});

test("a file counts as not sent by the last word on it", () => {
  const noted = receipt(1, 1, { delivery: "noted" });
  assert.equal(countUnseen(stepsOf({ parts: [noted, end(1)] })), 1);
  assert.equal(countUnseen(stepsOf({ parts: [noted, end(1), receipt(2, 1), end(2)] })), 0);
  assert.equal(countUnseen(stepsOf({ parts: [receipt(1, 1, { delivery: "listed" })] })), 0);
});

test("a converted file is called converted, wherever it stands; a refused one is refused", () => {
  assert.equal(fateOf({ converted: true, delivery: "relocated" }), "converted");
  assert.equal(fateOf({ converted: true, delivery: "refused" }), "refused");
  assert.equal(fateOf({ converted: false, delivery: "relocated" }), "relocated");
});

test("how much of a file was given is said in its own measure", () => {
  assert.deepEqual(piecesOf({ kind: "document", pages: [3, 1, 2, 7], total: 40, scale: 0.5 }), ["scaled to 50 %", "pages 1–3, 7 of 40"]);
  assert.deepEqual(piecesOf({ kind: "video", times: [0, 1], total: 75 }), ["2 frames of 1:15"]);
  assert.deepEqual(piecesOf({ kind: "audio", total: 1.5, cut: true }), ["1.5 s long", "its end is missing"]);
  assert.deepEqual(piecesOf({ kind: "image", crop: [1, 2, 30, 40], scale: 1 }), ["the part from 1, 2 to 30, 40"]);
  assert.equal(ranges([5, 1, 2, 3, 9, 10]), "1–3, 5, 9–10");
});

test("tokens are told as far as the provider counts them", () => {
  assert.deepEqual(usageOf({ input_tokens: 12345, cached_tokens: 9000, output_tokens: 0, cost: null }), [["in", "12,345 tokens, 9,000 from the cache"]]);
  assert.deepEqual(usageOf({ output_tokens: 2, reasoning_tokens: 1, cost: 0.00123 }), [["out", "2 tokens, 1 of them reasoning"], ["cost", "$0.00123"]]);
  assert.deepEqual(usageOf(undefined), []);
});
