// The panel "What the model saw".
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./bundle.mjs";

const { countFiles, countUnseen, stepsOf } = await load("receipts/receipts.ts");
const { deliveryOf, piecesOf, ranges, usageOf } = await load("receipts/words.ts");

const receipt = (step, number, more = {}) => ({
  type: "data-receipt",
  data: { step, number, kind: "image", delivery: "native", converted: false, variants: [], bytes: 1, ...more },
});
const end = (step) => ({ type: "data-step", data: { step, model: "inspector", stop: "end", usage: {} } });
const numbers = (receipts) => receipts.map(({ number }) => number);

test("a step has the receipts that changed and those that didn't", () => {
  const parts = [receipt(1, 2), receipt(1, 1), end(1), { type: "text", text: "x" }, receipt(2, 3), receipt(2, 1), end(2), end(3)];
  const steps = stepsOf({ parts });
  assert.deepEqual(steps.map((step) => numbers(step.changed)), [[1, 2], [1, 3], []]);
  assert.deepEqual(steps.map((step) => numbers(step.same)), [[], [2], [1, 2, 3]]);
  assert.equal(countFiles(steps), 3);
});

test("an unfinished step has no stop reason", () => {
  const [first] = stepsOf({ parts: [receipt(1, 1)] });
  assert.equal(first.stop, undefined);
  assert.deepEqual(stepsOf({ parts: [{ type: "text", text: "hello" }] }), []);
});

test("a file counts as not sent by its last receipt", () => {
  const noted = receipt(1, 1, { delivery: "noted" });
  assert.equal(countUnseen(stepsOf({ parts: [noted, end(1)] })), 1);
  assert.equal(countUnseen(stepsOf({ parts: [noted, end(1), receipt(2, 1), end(2)] })), 0);
  assert.equal(countUnseen(stepsOf({ parts: [receipt(1, 1, { delivery: "listed" })] })), 0);
});

test("a described picture says by whom", () => {
  assert.deepEqual(piecesOf({ kind: "image", described_by: "openai:gpt-5" }), ["a description by openai:gpt-5"]);
});

test("a converted file is called converted wherever it was sent, and a refused one refused", () => {
  assert.equal(deliveryOf({ converted: true, delivery: "relocated" }), "converted");
  assert.equal(deliveryOf({ converted: true, delivery: "refused" }), "refused");
  assert.equal(deliveryOf({ converted: false, delivery: "relocated" }), "relocated");
});

test("the part of a file that was sent is shown in the unit of its kind", () => {
  assert.deepEqual(piecesOf({ kind: "document", pages: [3, 1, 2, 7], total: 40, scale: 0.5 }), ["scaled to 50%", "pages 1–3, 7 of 40"]);
  assert.deepEqual(piecesOf({ kind: "video", times: [0, 1], total: 75 }), ["2 frames of 1:15"]);
  assert.deepEqual(piecesOf({ kind: "audio", total: 1.5, cut: true }), ["1.5 s long", "its end is missing"]);
  assert.deepEqual(piecesOf({ kind: "image", crop: [1, 2, 30, 40], scale: 1 }), ["the part from 1, 2 to 30, 40"]);
  assert.equal(ranges([5, 1, 2, 3, 9, 10]), "1–3, 5, 9–10");
});

test("only the token counts that the provider reported are shown", () => {
  assert.deepEqual(usageOf({ input_tokens: 12345, cached_tokens: 9000, output_tokens: 0, cost: null }), [["in", "12,345 tokens, 9,000 from the cache"]]);
  assert.deepEqual(usageOf({ output_tokens: 2, reasoning_tokens: 1, cost: 0.00123 }), [["out", "2 tokens, 1 of them reasoning"], ["cost", "$0.00123"]]);
  assert.deepEqual(usageOf(undefined), []);
});
