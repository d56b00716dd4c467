// What the conversation's view reckons: references in texts, the parts of an answer, headings of the list, addresses.
import assert from "node:assert/strict";
import { test } from "node:test";
import { dice, load } from "./bundle.mjs";

const { cut } = await load("messages/cutting.ts");
const { blocksOf } = await load("messages/blocks.ts");
const { dayOf, byDay } = await load("sidebar/days.ts");
const { keepKeys, merge } = await load("chat/session/mergeMessages.ts");
const { goesOnByItself } = await load("chat/session/resuming.ts");
const { statusWords } = await load("chat/statusWords.ts");

const numbers = (text) => cut(text).flatMap((piece) => (typeof piece === "string" ? [] : [piece.number]));
const words = (piece) => (typeof piece === "string" ? piece : piece.words);
const file = (number, id = `att_${number}`) => ({ type: "data-attachment", id, data: { id, number, kind: "image" } });
const said = (text, state = "done") => ({ type: "text", text, state });

test("a text speaks of files by kind and number, and by a number sign that stands alone", () => {
  assert.deepEqual(numbers("Compare Image 5 with document #3, then see #12 and files 7."), [5, 3, 12, 7]);
  assert.deepEqual(numbers("images of 5, C#5, &#39;, a/#4, ##6, image 1234567, imaged 3"), []);
  assert.deepEqual(numbers("picture 2.png is not file 2, but image 3. And image 4."), [2, 3, 4]);
});

test("however a text is made, its pieces are the text again", () => {
  const roll = dice(3);
  const bits = ["image ", "#", "5", " ", "file", "s 12", "\n", "é", "document 3", "&", "x"];
  for (let turn = 0; turn < 2000; turn += 1) {
    const text = Array.from({ length: roll(9) }, () => bits[roll(bits.length)]).join("");
    assert.equal(cut(text).map(words).join(""), text);
  }
});

test("files of an answer stand together where they came, each once", () => {
  const parts = [said("one"), file(1), { type: "file", url: "/x", mediaType: "image/png" }, file(2), said("two"), file(1)];
  const blocks = blocksOf(parts);
  assert.deepEqual(blocks.map((block) => block.is), ["text", "files", "text"]);
  assert.deepEqual(blocks[1].files.map((each) => each.number), [1, 2]);
});

test("parts of which nothing is to be seen are left out", () => {
  const step = { type: "data-step", id: "step 1", data: {} };
  assert.deepEqual(blocksOf([{ type: "step-start" }, said("  "), step, { type: "reasoning", text: "" }]), []);
});

test("a conversation stands under its day, by the clock of who looks", () => {
  const now = new Date(2026, 2, 10, 0, 30);
  const days = [new Date(2026, 2, 10), new Date(2026, 2, 9, 23, 59), new Date(2026, 2, 3), new Date(2026, 2, 2, 23, 59)];
  assert.deepEqual(days.map((day) => dayOf(day, now)), ["Today", "Yesterday", "Last seven days", "March 2026"]);
  const rows = days.map((day, id) => ({ id, changed: day.getTime() / 1000 }));
  assert.deepEqual(byDay(rows, now).flatMap((group) => group.rows), rows);
});

test("messages that the server tells alike stay the same objects", () => {
  const shown = [{ id: "msg_1", role: "user", parts: [said("a")] }, { id: "ans_1", role: "assistant", parts: [] }];
  const stored = structuredClone(shown);
  stored[1].parts.push(said("b"));
  const merged = merge(shown, stored);
  assert.equal(merged[0], shown[0]);
  assert.equal(merged[1], stored[1]);
});

test("a message keeps its place on the page when the server names it", () => {
  const keys = new Map();
  const asked = { id: "mine", role: "user" };
  keepKeys(keys, [asked], [{ id: "msg_1", role: "user" }]);
  assert.equal(keys.get("msg_1"), "mine");
  keepKeys(keys, [{ id: "msg_1", role: "user" }], [{ id: "msg_2", role: "user" }, { id: "msg_1", role: "user" }]);
  assert.equal(keys.has("msg_2"), false, "another branch is another message");
});

test("an answer goes on without a word only behind its tools, and where another step is left", () => {
  const step = (stop) => ({ type: "data-step", id: "step", data: { step: 1, stop } });
  const ended = (reason, ...stops) => goesOnByItself({ parts: [...stops.map(step), said("…")], metadata: { reason } });
  assert.deepEqual(
    [ended("cancelled", "tool_calls"), ended("budget", "cut", "tool_calls"), ended("cancelled", "tool_calls", "cancelled")],
    [true, true, false],
  );
  assert.deepEqual([ended("steps", "tool_calls"), ended("length", "length"), ended("cancelled")], [false, false, false]);
});

test("an answer is only said to be there when it has ended and shows something", () => {
  const heard = (parts, more) =>
    statusWords({ status: "ready", running: false, problem: null, last: { id: "a", role: "assistant", parts }, ...more });
  const [writing, there] = ["An answer is being written.", "The answer is there."];
  assert.equal(heard([]), "");
  assert.equal(heard([said(" ")]), "");
  assert.equal(heard([said("Two.")]), there);
  assert.equal(heard([said("Tw")], { running: true }), writing); // a reload, before the page follows the answer
  assert.equal(heard([], { running: true }), writing);
  assert.equal(heard([said("Tw")], { status: "streaming" }), writing);
  assert.equal(heard([said("Tw")], { problem: "The model failed." }), "");
  assert.equal(heard([said("Two?")], { last: { id: "q", role: "user", parts: [said("Two?")] } }), "");
});
