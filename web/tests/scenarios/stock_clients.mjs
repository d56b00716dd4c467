// The stock client `useChat` of npm's `ai`, with a route of a program's own and with a mounted chat.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { eventually } from "../actions.mjs";

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
  await eventually(async () => assert.equal(await answers(page).count(), count));
  await page.evaluate(() => window.convert());
  return answers(page).last().innerText();
}

export async function use_chat_sends_files_and_shows_those_of_tools(context) {
  const page = await open(context);
  await send(page, "What is this?", [{ name: "dot.png", mimeType: "image/png", buffer: PIXEL }]);
  await eventually(async () => assert.match(await complete(page, 1), /image 1: dot\.png/));
  await send(page, "/gdrive_display_image name=red");
  await eventually(async () => assert.match(await complete(page, 2), /"type":"file","number":2/));
  await context.until("the tool's picture is loaded", () =>
    answers(page).last().locator("img").evaluate((image) => image.complete && image.naturalWidth === 64),
  );
}

export async function use_chat_shows_what_a_provider_ran_and_another_one_goes_on(context) {
  const page = await open(context);
  const found = [{ type: "web_search_result", title: "Kiwi", url: "https://kiwi.example", encrypted_content: "Eq" }];
  const citations = [{ type: "web_search_result_location", url: "https://kiwi.example", title: "Kiwi", cited_text: "Green." }];
  const blocks = [
    { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "kiwi" } },
    { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: found },
    { type: "text", text: "A green fruit.", citations },
  ];
  await send(page, `Blocks: ${JSON.stringify(blocks)}`);
  await eventually(async () => assert.match(await complete(page, 1), /run by the provider: output-available \[{"type":"web_search_result","title":"Kiwi"/));
  await eventually(async () => assert.equal(await answers(page).getByRole("link", { name: "Kiwi" }).getAttribute("href"), "https://kiwi.example"));
  await send(page, "Hello again");
  await eventually(async () => assert.match(await complete(page, 2), /I am the inspector/));
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
  await eventually(async () => assert.doesNotMatch(await complete(page, 1), /were sent/));
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
  await eventually(async () => assert.match(await complete(page, 1), /image 1: dot\.png/));
  await send(page, "/view_file number=1");
  await eventually(async () => assert.match(await complete(page, 2), /image 1/));
}

export async function use_chat_stops_and_sends_again(context) {
  const page = await open(context);
  await send(page, "/take_time");
  await page.getByText("input-available").waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.locator('main[data-status="ready"]').waitFor();
  await send(page, "Hello again");
  await eventually(async () => assert.match(await complete(page, 2), /call was not (run|finished)/, "the model is told what became of the stopped call"));
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
