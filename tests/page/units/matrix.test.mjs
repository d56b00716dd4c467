// Rows of the matrix: search, order and limits.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./bundle.mjs";

const { cellsOf, filterRows, isOf, isUnproven, limitsOf } = await load("matrix/rows.ts");

const all = (delivery) => Object.fromEntries(["image", "document", "audio", "video", "text"].map((kind) => [kind, delivery]));
const row = (provider, models, more = {}) => ({
  ...{ provider, models, api: "openai-chat", example: "some-model", known_by: "docs", cells: [], unproven: [] },
  ...{ tool_result: all("relocated"), user: all("native"), ...more },
});
const ROWS = [row("openai", "gpt-5.[6-9]*, o[1-9]*"), row("bedrock", "*claude*"), row("bedrock", "any other")];

test("the name of a model finds its family", () => {
  assert.deepEqual(filterRows(ROWS, "gpt-5.7-mini"), [ROWS[0]]);
  assert.deepEqual(filterRows(ROWS, "bedrock:us.anthropic.claude-sonnet-4-5"), [ROWS[1]]);
  assert.deepEqual(filterRows(ROWS, "gpt-4"), []);
});

test("every word must match, and an empty search finds all", () => {
  assert.deepEqual(filterRows(ROWS, "Bedrock ANY"), [ROWS[2]]);
  assert.equal(filterRows(ROWS, "  ").length, 3);
  assert.deepEqual(filterRows(ROWS, "([.*"), []);
});

test("the provider before the colon must match, too", () => {
  assert.equal(isOf(ROWS[1], "openai:claude-3"), false);
  assert.equal(isOf(ROWS[2], "anything-else"), false);
});

test("used capabilities are first, and a relocated file shows both places", () => {
  const cell = (place, verdict) => ({ place, kind: "image", verdict, form: "inline", limits: {} });
  const cells = [cell("tool_result", "rejects"), cell("user", "sees"), { ...cell("user", "sees"), kind: "audio" }];
  const shown = cellsOf(row("x", "any", { cells }), "image", "tool_result");
  assert.deepEqual(shown.map((capability) => capability.verdict), ["sees", "rejects"]);
});

test("an unproven capability is marked only if files are sent that way", () => {
  const unproven = row("x", "any", { unproven: ["image"], user: { ...all("native"), image: "refused" } });
  assert.equal(isUnproven(unproven, "image", "tool_result"), true);
  assert.equal(isUnproven(unproven, "image", "user"), false);
});

test("limits are shown with their unit", () => {
  const none = { bytes: null, side: null, pixels: null, pages: null, frames: null };
  assert.equal(limitsOf({ limits: { ...none, bytes: 3_932_160, side: 8000 } }), "up to 3.9 MB, 8,000 pixels a side");
  assert.equal(limitsOf({ limits: none }), "");
});
