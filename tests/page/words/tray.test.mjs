// The files of a message that is being written, with a server of a few lines.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { load } from "./bundle.mjs";

const LIMITS = { max_file_bytes: 100, max_message_files: 4 };
let kept, open, asked, answers;

/** What the page sends a file with: it answers when a test says so. */
class Request {
  upload = {};
  headers = {};
  open(method, path) {
    Object.assign(this, { method, path });
  }
  setRequestHeader(name, value) {
    this.headers[name] = value;
  }
  getResponseHeader() {
    return null;
  }
  send() {
    open.push(this);
  }
  abort() {
    this.aborted = true;
  }
  answer(status, body) {
    open.splice(open.indexOf(this), 1);
    Object.assign(this, { status, responseText: JSON.stringify(body) });
    this.onload();
  }
}

beforeEach(() => {
  [kept, open, asked, answers] = [new Map(), [], [], new Map()];
  globalThis.XMLHttpRequest = Request;
  globalThis.sessionStorage = {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => kept.set(key, value),
    removeItem: (key) => kept.delete(key),
  };
  globalThis.fetch = async (path, { method }) => {
    asked.push(`${method} ${path}`);
    const found = answers.get(path);
    return found ? Response.json(found) : Response.json({ error: { kind: "NotFound", text: "not found" } }, { status: 404 });
  };
});

const { makeTray } = await load("files/uploads/tray.ts");
const file = (name, size = 5, type = "text/plain") => new File([new Uint8Array(size)], name, { type });
const stored = (name) => ({ id: `att_${name}`, number: null, name, size: 5, state: "pending", thumbnail: null });
const states = (tray) => tray.items().map((one) => `${one.name} ${one.state}`);
const settle = () => new Promise((done) => setImmediate(done));

test("three are sent at a time, and the next begins when one is there", () => {
  const tray = makeTray("c");
  tray.add([file("a"), file("b"), file("c"), file("d")], "picker", LIMITS);
  assert.deepEqual(open.map((one) => one.path), ["a", "b", "c"].map((name) => `/api/attachments?name=${name}`));
  open[1].answer(201, stored("b"));
  assert.deepEqual(states(tray), ["a sending", "b ready", "c sending", "d sending"]);
});

test("what is too large is refused before a byte is sent", () => {
  const tray = makeTray("c");
  tray.add([file("huge", 101), file("1")], "drop", LIMITS);
  assert.match(tray.items()[0].problem, /larger than 100 bytes/);
  assert.deepEqual(open.map((one) => one.path), ["/api/attachments?name=1"]);
});

test("what is more than one message takes goes with the next one, or into a place that was left", () => {
  const tray = makeTray("c");
  tray.add(["1", "2", "3", "4", "5", "6"].map((name) => file(name)), "drop", LIMITS);
  while (open.length) open[0].answer(201, stored("x"));
  assert.deepEqual(tray.items().map((one) => one.state), [...Array(4).fill("ready"), "later", "later"]);
  tray.remove(tray.items()[0].key);
  open[0].answer(201, stored("5"));
  assert.equal(tray.items().filter((one) => one.state === "later").length, 1);
  tray.clear();
  assert.deepEqual(states(tray), ["6 sending"]);
});

test("when the conversation gets its name, what is still attached goes along", () => {
  const tray = makeTray("new");
  tray.add([file("a")], "picker", LIMITS);
  tray.move("conv_1");
  open[0].answer(201, stored("a"));
  assert.deepEqual([...kept.keys()], ["showandtell.uploads conv_1"]);
});

test("a file that the server can't take is refused in its words; a failure can be tried again", () => {
  const tray = makeTray("c");
  tray.add([file("bad"), file("unlucky")], "picker", LIMITS);
  const [bad, unlucky] = [...open];
  bad.answer(422, { error: { kind: "BadFile", text: "it ends in the middle" } });
  unlucky.answer(503, { error: { kind: "StorageFailed", text: "try again" } });
  assert.deepEqual(states(tray), ["bad refused", "unlucky failed"]);
  assert.equal(tray.items()[0].problem, "it ends in the middle");
  tray.retry(tray.items()[1].key);
  open[0].answer(201, stored("unlucky"));
  assert.deepEqual(states(tray), ["bad refused", "unlucky ready"]);
});

test("taking one out stops it, or drops it on the server", () => {
  const tray = makeTray("c");
  tray.add([file("a"), file("b")], "picker", LIMITS);
  const [first, second] = [...open];
  first.answer(201, stored("a"));
  for (const { key } of tray.items()) tray.remove(key);
  assert.equal(second.aborted, true);
  assert.deepEqual(asked, ["DELETE /api/attachments/att_a"]);
  assert.deepEqual(tray.items(), []);
});

test("after a reload what the server still has is there again, and the rest is told of", async () => {
  const before = makeTray("c");
  before.add([file("a"), file("gone"), file("late")], "picker", LIMITS);
  const [first, second] = [...open];
  first.answer(201, stored("a"));
  second.answer(201, stored("gone"));
  answers.set("/api/attachments/att_a", stored("a"));
  const tray = makeTray("c");
  await settle();
  assert.deepEqual(states(tray), ["a ready", "gone failed", "late failed"]);
  assert.ok(tray.items().slice(1).every((one) => one.problem && !one.again));
  assert.deepEqual(states(makeTray("another conversation")), []);
});

test("what was sent leaves the tray, and what failed stays", () => {
  const tray = makeTray("c");
  tray.add([file("a"), file("b")], "picker", LIMITS);
  const [first, second] = [...open];
  first.answer(201, stored("a"));
  second.onerror();
  tray.clear();
  assert.deepEqual(states(tray), ["b failed"]);
  assert.deepEqual(asked, []);
});

test("pasted pictures get names that tell them apart, and other files keep theirs", () => {
  const tray = makeTray("c");
  tray.add([file("image.png", 1, "image/png"), file("image.png", 1, "image/jpeg"), file("notes.txt")], "paste", LIMITS);
  assert.deepEqual(tray.items().map((one) => one.name), ["pasted-1.png", "pasted-2.jpg", "notes.txt"]);
});
