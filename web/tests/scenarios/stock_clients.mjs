// The stock client `useChat` of npm's `ai`, with a route of a program's own and with a mounted chat.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";

const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==",
  "base64",
);
const answers = (page) => page.getByRole("article", { name: "assistant" });

async function open(context, more = "") {
  context.allow(/favicon/);
  return context.visit(`/?chat=${randomUUID()}${more}`, { on: "stock" });
}

async function send(page, text, files = []) {
  await page.getByLabel("Files").setInputFiles(files);
  await page.getByLabel("Message").fill(text);
  await page.getByRole("button", { name: "Send" }).click();
}

/** Waits until this many answers are there and the last is complete, and returns its text. A model could go on from it. */
async function complete(page, count) {
  await answers(page).nth(count - 1).waitFor();
  await page.locator('main[data-status="ready"]').waitFor();
  assert.equal(await answers(page).count(), count);
  await page.evaluate(() => window.convert());
  return answers(page).last().innerText();
}

export async function use_chat_sends_files_and_shows_those_of_tools(context) {
  const page = await open(context);
  await send(page, "What is this?", [{ name: "dot.png", mimeType: "image/png", buffer: PIXEL }]);
  assert.match(await complete(page, 1), /image 1: dot\.png/);
  await send(page, "/gdrive_display_image name=red");
  assert.match(await complete(page, 2), /"type":"file","number":2/);
  await context.until("the tool's picture is loaded", () =>
    answers(page).last().locator("img").evaluate((image) => image.complete && image.naturalWidth === 64),
  );
}

export async function use_chat_approves_a_call(context) {
  const page = await open(context);
  await send(page, "/send_money amount=50");
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByText("50 were sent").first().waitFor();
  await complete(page, 1);
}

export async function use_chat_denies_a_call(context) {
  const page = await open(context);
  await send(page, "/send_money amount=50");
  await page.getByRole("button", { name: "Deny" }).click();
  await page.getByText("output-denied").waitFor();
  assert.doesNotMatch(await complete(page, 1), /were sent/);
}

export async function use_chat_sends_while_an_answer_runs(context) {
  const page = await open(context);
  await send(page, "/take_time");
  await page.getByText("input-available").waitFor();
  await send(page, "Hello again");
  await answers(page).nth(1).getByText(/call was not (run|finished)/).waitFor(); // the stopped answer's end may be seen first
  await complete(page, 2);
  await context.call("release"); // the thread of the stopped call
}

export async function use_chat_sends_only_its_newest_message(context) {
  const page = await open(context, "&newest");
  await send(page, "What is this?", [{ name: "dot.png", mimeType: "image/png", buffer: PIXEL }]);
  assert.match(await complete(page, 1), /image 1: dot\.png/);
  await send(page, "/view_file number=1");
  assert.match(await complete(page, 2), /image 1/);
}

export async function use_chat_stops_and_sends_again(context) {
  const page = await open(context);
  await send(page, "/take_time");
  await page.getByText("input-available").waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.locator('main[data-status="ready"]').waitFor();
  await send(page, "Hello again");
  assert.match(await complete(page, 2), /call was not (run|finished)/, "the model is told what became of the stopped call");
  await context.call("release"); // the thread of the stopped call
}

export async function use_chat_resumes_after_a_reload(context) {
  const page = await open(context);
  await send(page, "/take_time");
  await page.getByText("input-available").waitFor();
  await page.reload();
  await page.getByText("input-available").waitFor();
  await context.call("release");
  await complete(page, 1);
  await page.getByText("all is done").first().waitFor();
}

export async function use_chat_regenerates_and_edits(context) {
  const page = await open(context);
  const sent = [];
  page.on("request", (request) => request.method() === "POST" && sent.push(request.postDataJSON()));
  await send(page, "one");
  await complete(page, 1);
  await send(page, "two");
  await complete(page, 2);
  await page.getByRole("button", { name: "Regenerate" }).click();
  await context.until("the answer is asked for again", () => sent.length === 3);
  await complete(page, 2);
  assert.deepEqual([sent[2].trigger, sent[2].messages.length], ["regenerate-message", 3]);
  await page.getByRole("button", { name: "Edit" }).first().click();
  await page.getByText("three").waitFor();
  await complete(page, 1);
  assert.equal(sent[3].messages.length, 1, "the messages after the edited one are gone");
}
