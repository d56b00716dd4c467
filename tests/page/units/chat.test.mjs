// The conversation view: references in texts, blocks of an answer, headings of the list, merging and resuming.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load, seededRandom } from "./bundle.mjs";

const { splitReferences } = await load("messages/splitReferences.ts");
const { blocksOf } = await load("messages/blocks.ts");
const { dayOf, byDay } = await load("sidebar/days.ts");
const { keepKeys, merge } = await load("chat/session/mergeMessages.ts");
const { statusText } = await load("chat/statusText.ts");
const { resumesAutomatically } = await load("chat/session/resuming.ts");
const { applyPart, idle } = await load("chat/session/liveStatus.ts");

const numbers = (text) => splitReferences(text).flatMap((piece) => (typeof piece === "string" ? [] : [piece.number]));
const textOf = (piece) => (typeof piece === "string" ? piece : piece.words);
const file = (number, id = `att_${number}`) => ({ type: "data-attachment", id, data: { id, number, kind: "image" } });
const textPart = (text, state = "done") => ({ type: "text", text, state });

test("kind and number refer to a file, and so does a number sign with a number", () => {
  assert.deepEqual(numbers("Compare Image 5 with document #3, then see #12 and files 7."), [5, 3, 12, 7]);
  assert.deepEqual(numbers("images of 5, C#5, &#39;, a/#4, ##6, image 1234567, imaged 3"), []);
  assert.deepEqual(numbers("picture 2.png is not file 2, but image 3. And image 4."), [2, 3, 4]);
});

test("the pieces of any text add up to the text", () => {
  const random = seededRandom(3);
  const fragments = ["image ", "#", "5", " ", "file", "s 12", "\n", "é", "document 3", "&", "x"];
  for (let run = 0; run < 2000; run += 1) {
    const text = Array.from({ length: random(9) }, () => fragments[random(fragments.length)]).join("");
    assert.equal(splitReferences(text).map(textOf).join(""), text);
  }
});

test("consecutive files of an answer form one block, each file once", () => {
  const parts = [textPart("one"), file(1), { type: "file", url: "/x", mediaType: "image/png" }, file(2), textPart("two"), file(1)];
  const blocks = blocksOf(parts);
  assert.deepEqual(blocks.map((block) => block.is), ["text", "files", "text"]);
  assert.deepEqual(blocks[1].files.map(({ number }) => number), [1, 2]);
});

test("invisible parts are left out", () => {
  const step = { type: "data-step", id: "step 1", data: {} };
  assert.deepEqual(blocksOf([{ type: "step-start" }, textPart("  "), step, { type: "reasoning", text: "" }]), []);
});

test("conversations are grouped by day in the browser's time zone", () => {
  const now = new Date(2026, 2, 10, 0, 30);
  const days = [new Date(2026, 2, 10), new Date(2026, 2, 9, 23, 59), new Date(2026, 2, 3), new Date(2026, 2, 2, 23, 59)];
  assert.deepEqual(days.map((day) => dayOf(day, now)), ["Today", "Yesterday", "Last seven days", "March 2026"]);
  const rows = days.map((day, id) => ({ id, changed: day.getTime() / 1000 }));
  assert.deepEqual(byDay(rows, now).flatMap((group) => group.rows), rows);
});

test("messages that are equal to the server's stay the same objects", () => {
  const shown = [{ id: "msg_1", role: "user", parts: [textPart("a")] }, { id: "ans_1", role: "assistant", parts: [] }];
  const stored = structuredClone(shown);
  stored[1].parts.push(textPart("b"));
  const merged = merge(shown, stored);
  assert.equal(merged[0], shown[0]);
  assert.equal(merged[1], stored[1]);
});

test("a message keeps its key when the server assigns its id", () => {
  const keys = new Map();
  const sent = { id: "mine", role: "user" };
  keepKeys(keys, [sent], [{ id: "msg_1", role: "user" }]);
  assert.equal(keys.get("msg_1"), "mine");
  keepKeys(keys, [{ id: "msg_1", role: "user" }], [{ id: "msg_2", role: "user" }, { id: "msg_1", role: "user" }]);
  assert.equal(keys.has("msg_2"), false, "another branch is another message");
});

test("an answer resumes without a message only after its tool calls and with steps left", () => {
  const step = (stop) => ({ type: "data-step", id: "step", data: { step: 1, stop } });
  const ended = (reason, ...stops) => resumesAutomatically({ parts: [...stops.map(step), textPart("…")], metadata: { reason } });
  assert.deepEqual(
    [ended("cancelled", "tool_calls"), ended("budget", "cut", "tool_calls"), ended("cancelled", "tool_calls", "cancelled")],
    [true, true, false],
  );
  assert.deepEqual([ended("steps", "tool_calls"), ended("length", "length"), ended("cancelled")], [false, false, false]);
});

test("an answer is announced only when it has ended and shows something", () => {
  const announced = (parts, more) =>
    statusText({ status: "ready", running: false, problem: null, last: { id: "a", role: "assistant", parts }, ...more });
  const [writing, there] = ["An answer is being written.", "The answer is there."];
  assert.equal(announced([]), "");
  assert.equal(announced([textPart(" ")]), "");
  assert.equal(announced([textPart("Two.")]), there);
  assert.equal(announced([textPart("Tw")], { running: true }), writing); // a reload, before the page follows the answer
  assert.equal(announced([], { running: true }), writing);
  assert.equal(announced([textPart("Tw")], { status: "streaming" }), writing);
  assert.equal(announced([textPart("Tw")], { problem: "The model failed." }), "");
  assert.equal(announced([textPart("Two?")], { last: { id: "q", role: "user", parts: [textPart("Two?")] } }), "");
});

test("a file for the assistant is not shown with the answer", () => {
  const attachment = (audience) => ({ type: "data-attachment", id: audience, data: { id: audience, number: 1, audience } });
  const blocks = blocksOf([attachment("assistant"), attachment("both"), attachment("user")]);
  assert.deepEqual(blocks.flatMap((block) => block.files.map((shown) => shown.id)), ["both", "user"]);
});

test("text for the user alone is a block of its own", () => {
  const parts = [textPart("Hello."), { type: "data-user-text", id: "a", data: { text: "Secret." } }];
  assert.deepEqual(blocksOf(parts).map((block) => [block.is, block.text]), [["text", "Hello."], ["userText", "Secret."]]);
});

test("an answer that lost its worker says so until another one has taken it over", () => {
  const state = (name) => ({ type: "data-worker", data: { state: name } });
  const lost = applyPart(idle, state("lost"));
  assert.equal(lost.isWorkerLost, true);
  assert.equal(applyPart(lost, { type: "data-progress", data: { tool_call_id: "a" } }).isWorkerLost, true);
  assert.deepEqual(applyPart(lost, state("found")), idle);
});
