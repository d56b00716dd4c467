// The attachments of an unsent message, with a fake server.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { load } from "./bundle.mjs";

const LIMITS = { max_file_bytes: 100, max_message_files: 4 };
let storage, openRequests, requested, responses;

/** A fake `XMLHttpRequest` that responds when a test calls `respond`. */
class FakeRequest {
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
    openRequests.push(this);
  }
  abort() {
    this.aborted = true;
  }
  respond(status, body) {
    openRequests.splice(openRequests.indexOf(this), 1);
    Object.assign(this, { status, responseText: JSON.stringify(body) });
    this.onload();
  }
}

beforeEach(() => {
  [storage, openRequests, requested, responses] = [new Map(), [], [], new Map()];
  globalThis.XMLHttpRequest = FakeRequest;
  globalThis.sessionStorage = {
    getItem: (key) => storage.get(key) ?? null,
    setItem: (key, value) => storage.set(key, value),
    removeItem: (key) => storage.delete(key),
  };
  globalThis.fetch = async (path, { method }) => {
    requested.push(`${method} ${path}`);
    const body = responses.get(path);
    return body ? Response.json(body) : Response.json({ error: { kind: "NotFound", text: "not found" } }, { status: 404 });
  };
});

const { makeTray } = await load("files/uploads/tray.ts");
const file = (name, size = 5, type = "text/plain") => new File([new Uint8Array(size)], name, { type });
const stored = (name) => ({ id: `att_${name}`, number: null, name, size: 5, state: "pending", thumbnail: null });
const states = (tray) => tray.items().map((item) => `${item.name} ${item.state}`);
const nextTask = () => new Promise((done) => setImmediate(done));

/** A tray of a server with these limits. */
function trayOf(place) {
  const tray = makeTray(place);
  tray.limit(LIMITS);
  return tray;
}

test("three files are uploaded at a time, and the next starts when one has arrived", () => {
  const tray = trayOf("c");
  tray.add([file("a"), file("b"), file("c"), file("d")], "picker");
  assert.deepEqual(openRequests.map((request) => request.path), ["a", "b", "c"].map((name) => `/api/attachments?name=${name}`));
  openRequests[1].respond(201, stored("b"));
  assert.deepEqual(states(tray), ["a sending", "b ready", "c sending", "d sending"]);
});

test("a file over the limit is refused before upload", () => {
  const tray = trayOf("c");
  tray.add([file("huge", 101), file("1")], "drop");
  assert.match(tray.items()[0].problem, /larger than 100 bytes/);
  assert.deepEqual(openRequests.map((request) => request.path), ["/api/attachments?name=1"]);
});

test("an empty file is refused before upload", () => {
  const tray = trayOf("c");
  tray.add([file("nothing", 0), file("1")], "drop");
  assert.equal(tray.items()[0].problem, "It is empty.");
  assert.deepEqual(openRequests.map((request) => request.path), ["/api/attachments?name=1"]);
});

test("files that are added before the limits are known wait for them", () => {
  const tray = makeTray("c");
  tray.add([file("huge", 101), file("1")], "drop");
  assert.deepEqual([states(tray), openRequests], [["huge waiting", "1 waiting"], []]);
  tray.limit(LIMITS);
  assert.deepEqual(states(tray), ["huge refused", "1 sending"]);
});

test("files over the limit of a message wait for the next message or for a free place", () => {
  const tray = trayOf("c");
  tray.add(["1", "2", "3", "4", "5", "6"].map((name) => file(name)), "drop");
  while (openRequests.length) openRequests[0].respond(201, stored("x"));
  assert.deepEqual(tray.items().map((item) => item.state), [...Array(4).fill("ready"), "later", "later"]);
  tray.remove(tray.items()[0].key);
  openRequests[0].respond(201, stored("5"));
  assert.equal(tray.items().filter((item) => item.state === "later").length, 1);
  tray.clear();
  assert.deepEqual(states(tray), ["6 sending"]);
});

test("attached files move along when a new conversation gets its id", () => {
  const tray = trayOf("new");
  tray.add([file("a")], "picker");
  tray.move("conv_1");
  openRequests[0].respond(201, stored("a"));
  assert.deepEqual([...storage.keys()], ["showandtell.uploads conv_1"]);
});

test("a refused file shows the server's message, and a failed upload can be retried", () => {
  const tray = trayOf("c");
  tray.add([file("bad"), file("unlucky")], "picker");
  const [bad, unlucky] = [...openRequests];
  bad.respond(422, { error: { kind: "BadFile", text: "it ends in the middle" } });
  unlucky.respond(503, { error: { kind: "StorageFailed", text: "try again" } });
  assert.deepEqual(states(tray), ["bad refused", "unlucky failed"]);
  assert.equal(tray.items()[0].problem, "it ends in the middle");
  tray.retry(tray.items()[1].key);
  openRequests[0].respond(201, stored("unlucky"));
  assert.deepEqual(states(tray), ["bad refused", "unlucky ready"]);
});

test("removing a file aborts its upload or deletes it on the server", () => {
  const tray = trayOf("c");
  tray.add([file("a"), file("b")], "picker");
  const [first, second] = [...openRequests];
  first.respond(201, stored("a"));
  for (const { key } of tray.items()) tray.remove(key);
  assert.equal(second.aborted, true);
  assert.deepEqual(requested, ["DELETE /api/attachments/att_a"]);
  assert.deepEqual(tray.items(), []);
});

test("after a reload the files that the server has are back, and the others have failed", async () => {
  const before = trayOf("c");
  before.add([file("a"), file("gone"), file("late")], "picker");
  const [first, second] = [...openRequests];
  first.respond(201, stored("a"));
  second.respond(201, stored("gone"));
  responses.set("/api/attachments/att_a", stored("a"));
  const tray = makeTray("c");
  await nextTask();
  assert.deepEqual(states(tray), ["a ready", "gone failed", "late failed"]);
  assert.ok(tray.items().slice(1).every((item) => item.problem && !item.again));
  assert.deepEqual(states(makeTray("another conversation")), []);
});

test("sending clears the tray except for failed files", () => {
  const tray = trayOf("c");
  tray.add([file("a"), file("b")], "picker");
  const [first, second] = [...openRequests];
  first.respond(201, stored("a"));
  second.onerror();
  tray.clear();
  assert.deepEqual(states(tray), ["b failed"]);
  assert.deepEqual(requested, []);
});

test("pasted pictures get different names, and other files keep theirs", () => {
  const tray = trayOf("c");
  tray.add([file("image.png", 1, "image/png"), file("image.png", 1, "image/jpeg"), file("notes.txt")], "paste");
  assert.deepEqual(tray.items().map((item) => item.name), ["pasted-1.png", "pasted-2.jpg", "notes.txt"]);
});
