// Files at addresses: the lines of progress that the server sends, and what becomes of them in the tray.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { load } from "./bundle.mjs";

const { makeTray } = await load("files/uploads/tray.ts");
const { fetchFile } = await load("files/uploads/fetchFile.ts");
const STORED = { id: "att_a", number: null, name: "a.png", size: 40, state: "pending", thumbnail: null };
const nextTask = () => new Promise((done) => setImmediate(done));
const statesOf = (tray) => tray.items().map(({ name, state, size, done }) => [name, state, size, done]);

let sent, stream;

/** A server that sends what a test writes into `stream`. */
beforeEach(() => {
  sent = [];
  globalThis.sessionStorage = { getItem: () => null, setItem() {}, removeItem() {} };
  globalThis.fetch = async (path, init) => {
    sent.push([init.method, path, init.body && JSON.parse(init.body)]);
    const body = new ReadableStream({ start: (controller) => (stream = controller) });
    init.signal?.addEventListener("abort", () => stream.error(init.signal.reason));
    return new Response(body, { status: 200 });
  };
});

async function write(...texts) {
  for (const text of texts) stream.enqueue(new TextEncoder().encode(text));
  await nextTask();
  await nextTask();
}

async function attach(url = "https://example.com/a.png") {
  const tray = makeTray("c");
  tray.limit({ max_file_bytes: 100, max_message_files: 4 });
  tray.addJob("a.png", fetchFile(url));
  await nextTask();
  return tray;
}

test("progress comes in lines that packets may cut, and ends with the file", async () => {
  const tray = await attach();
  assert.deepEqual(sent, [["POST", "/api/attachments/fetch", { url: "https://example.com/a.png" }]]);
  assert.deepEqual(statesOf(tray), [["a.png", "sending", null, 0]]);
  await write('{"received":7,"size":null}\n{"recei');
  assert.deepEqual(statesOf(tray), [["a.png", "sending", null, 7]]);
  await write('ved":20,"size":40}\n');
  assert.deepEqual(statesOf(tray), [["a.png", "sending", 40, 20]]);
  await write(`${JSON.stringify({ attachment: { ...STORED, name: "red.png" } })}\n`);
  assert.deepEqual(statesOf(tray), [["red.png", "ready", 40, 40]]);
});

test("a download that failed can be tried again, and one that the server never takes can not", async () => {
  const tray = await attach();
  const error = { kind: "BadFile", text: "example.com broke off: try again" };
  await write(`${JSON.stringify({ status: 422, error })}\n`);
  assert.deepEqual([tray.items()[0].state, tray.items()[0].problem], ["failed", error.text]);
  tray.retry(tray.items()[0].key);
  await nextTask();
  await write(`${JSON.stringify({ status: 413, error: { kind: "FileTooLarge", text: "too large" } })}\n`);
  assert.deepEqual([tray.items()[0].state, tray.items()[0].problem], ["refused", "too large"]);
  assert.equal(sent.length, 2);
});

test("a connection that ends early has failed", async () => {
  const tray = await attach();
  await write('{"received":7,"size":40}\n');
  stream.close();
  await nextTask();
  assert.deepEqual([tray.items()[0].state, tray.items()[0].again], ["failed", true]);
});

test("removing a download cancels its request, and nothing follows", async () => {
  const tray = await attach();
  let signal;
  const { fetch } = globalThis;
  globalThis.fetch = (path, init) => ((signal = init.signal), fetch(path, init));
  tray.addJob("b.png", fetchFile("https://example.com/b.png"));
  await nextTask();
  tray.remove(tray.items()[1].key);
  await nextTask();
  assert.equal(signal.aborted, true);
  assert.deepEqual(statesOf(tray), [["a.png", "sending", null, 0]]);
});
