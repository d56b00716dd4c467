// Warnings before a message is sent, and what users can do after it was refused.
import { waitForAnswer, answers, sendAndWait, assert, messageBox, conversationId, userMessages, send, eventually } from "../actions.mjs";
import { docFile, zipFile, acceptAllFiles, attach, fileInput, imageFile, textFile, tray } from "../attachments.mjs";

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };
const sendButton = (page) => page.getByRole("button", { name: "Send", exact: true });

// thorough
export async function an_unsupported_file_disables_sending(context) {
  const page = await context.visit("/");
  const catalog = await context.get(page, "/api/models");
  const models = catalog.models.map((model) => ({ ...model, takes: { ...model.takes, document: "refused" } }));
  await page.route("**/api/models", (route) => route.fulfill({ json: { ...catalog, models } }));
  await page.reload();
  await attach(page, docFile("old.doc"), imageFile("dot.png"));
  await messageBox(page).fill("What are these?");
  await tray(page).getByText(/can’t be shown/).waitFor();
  await eventually(async () => assert.equal(await tray(page).locator(".tray-problem").count(), 1, "one file of two"));
  await eventually(async () => assert.equal(await sendButton(page).isEnabled(), false));
  await messageBox(page).press("Enter");
  await eventually(async () => assert.equal(await userMessages(page).count(), 0));
  await tray(page).getByRole("button", { name: "Remove old.doc" }).click();
  await page.locator("button.send:enabled").click();
  await waitForAnswer(page, 1);
}

// thorough
export async function a_file_that_no_model_reads_is_sent_for_tools_only(context) {
  const page = await context.visit("/");
  await attach(page, zipFile("stuff.zip"));
  await tray(page).getByText("for tools only").waitFor();
  const answer = await sendAndWait(page, "Keep this.");
  await userMessages(page).getByRole("figure", { name: "file 1: stuff.zip" }).waitFor();
  await answer.getByRole("button", { name: /What the model saw/ }).click();
  const panel = page.getByRole("dialog", { name: "What the model saw" });
  await panel.locator(".receipts-chip", { hasText: "for tools only" }).first().waitFor();
  await panel.getByText(/takes no application\/zip/).waitFor();
}

// thorough
export async function file_warnings_follow_the_chosen_model(context) {
  const page = await context.visit("/");
  const catalog = await context.get(page, "/api/models");
  const [first, ...others] = catalog.models;
  const blind = { ...first, id: "inspector:blind", name: "Blind", takes: { ...first.takes, image: "refused", document: "words" } };
  await page.route("**/api/models", (route) => route.fulfill({ json: { default: first.id, models: [first, blind, ...others] } }));
  await page.reload();
  await attach(page, imageFile("dot.png"), textFile("notes.txt", "words"));
  await messageBox(page).fill("What are these?");
  await eventually(async () => assert.equal(await tray(page).locator(".tray-problem").count(), 0));
  await eventually(async () => assert.equal(await sendButton(page).isEnabled(), true));
  await page.locator("main .model").click();
  await page.locator(".model-row", { hasText: "Blind" }).click();
  await tray(page).getByText("Blind can’t be shown an image. Choose another model, or take it out.").waitFor();
  await eventually(async () => assert.equal(await sendButton(page).isEnabled(), false));
}

/** A WAV file of 0.1 s of silence: 8 kHz, 16 bits, mono. */
function silentAudio(name) {
  const [header, samples] = [Buffer.alloc(44), Buffer.alloc(1600)];
  header.write("RIFF");
  header.writeUInt32LE(36 + samples.length, 4);
  header.write("WAVEfmt ", 8);
  header.writeUInt32LE(16, 16);
  for (const [offset, value] of [[20, 1], [22, 1], [32, 2], [34, 16]]) header.writeUInt16LE(value, offset);
  for (const [offset, value] of [[24, 8000], [28, 16_000], [40, samples.length]]) header.writeUInt32LE(value, offset);
  header.write("data", 36);
  return { name, mimeType: "audio/wav", buffer: Buffer.concat([header, samples]) };
}

// thorough
export async function audio_is_announced_as_a_transcript_for_models_without_audio(context) {
  const page = await context.visit("/");
  await attach(page, silentAudio("talk.wav"));
  await tray(page).getByText("given as what is said in it, written down").waitFor();
  await messageBox(page).fill("What is this?");
  await eventually(async () => assert.equal(await sendButton(page).isEnabled(), true, "the file is not refused"));
}

// thorough
export async function a_refused_file_has_no_retry_button(context) {
  const page = await context.visit("/");
  await acceptAllFiles(page);
  await attach(page, docFile("old.doc"));
  const refused = await sendAndWait(page, "What is it?");
  await refused.getByText(/choose another model, or edit the message and leave the file out/).waitFor();
  await refused.getByText(/can't be shown document 1 \(old\.doc\)/).waitFor();
  await eventually(async () => assert.equal(await page.getByRole("button", { name: "Try again" }).count(), 0));
  await eventually(async () => assert.equal(await page.getByText("What you wrote is back in the box.").count(), 0));
  await refused.hover();
  await refused.getByRole("button", { name: "Answer again" }).waitFor(); // with another model
}

// thorough
export async function a_late_approval_shows_the_earlier_decision(context) {
  context.allow(/status of 4(09|22)/);
  const page = await context.visit("/");
  const question = (tab) => tab.getByRole("group", { name: "May send_money run?" });
  await send(page, "/send_money amount=50");
  await question(page).waitFor();
  await conversationId(page);
  const late = await context.visit(new URL(page.url()).pathname); // another browser, which gets no updates from this one
  await question(late).waitFor();
  await question(page).getByRole("button", { name: "No", exact: true }).click();
  await (await waitForAnswer(page, 1)).getByText("declined").waitFor();
  await question(late).getByRole("button", { name: "Yes, run it" }).click();
  await late.getByText(/decided already/).waitFor();
  await answers(late).getByText("declined").waitFor();
  await eventually(async () => assert.equal(await late.getByRole("button", { name: "Try again" }).count(), 0));
  await eventually(async () => assert.equal(await late.getByRole("alert").count(), 0));
  await eventually(async () => assert.equal(await question(late).count(), 0));
  await eventually(async () => assert.doesNotMatch(await answers(late).last().innerText(), /were sent/));
}

// thorough
export async function enter_inserts_a_line_break_on_a_phone(context) {
  const page = await context.visit("/", { on: "scratch", ...PHONE });
  await messageBox(page).pressSequentially("first");
  await messageBox(page).press("Enter");
  await messageBox(page).pressSequentially("second");
  await eventually(async () => assert.equal(await messageBox(page).inputValue(), "first\nsecond"));
  await eventually(async () => assert.equal(await userMessages(page).count(), 0));
  await sendButton(page).click();
  const answer = await waitForAnswer(page, 1);
  await eventually(async () => assert.match(await userMessages(page).innerText(), /first\nsecond/));
  await answer.waitFor();
  await page.getByRole("button", { name: "Edit your message" }).click();
  const edit = page.getByRole("textbox", { name: "Your message" });
  await edit.press("Enter");
  await eventually(async () => assert.equal(await edit.inputValue(), "first\nsecond\n"));
}

export async function a_failed_upload_disables_sending_until_it_is_retried(context) {
  context.allow(/status of 503|Failed to load/);
  const page = await context.visit("/");
  await page.route("**/api/attachments?**", (route) => route.fulfill({ status: 503, body: "" }));
  await fileInput(page).setInputFiles([textFile("lost.txt", "words")]);
  await tray(page).locator(".tray-problem").waitFor();
  await messageBox(page).fill("What is in it?");
  await eventually(async () => assert.equal(await sendButton(page).isEnabled(), false));
  await messageBox(page).press("Enter");
  await eventually(async () => assert.equal(await userMessages(page).count(), 0));
  await page.getByText("Remove what is red, or try again").waitFor();
  await page.unroute("**/api/attachments?**");
  await tray(page).getByRole("button", { name: "Try lost.txt again" }).click();
  await page.locator("button.send:enabled").click();
  await waitForAnswer(page, 1);
  await userMessages(page).getByText("lost.txt").first().waitFor();
}

// thorough
export async function the_message_box_explains_enter_and_escape_during_an_answer(context) {
  const page = await context.visit("/", { on: "echo" });
  await send(page, "Say: one ⏸ two");
  await answers(page).getByText("one").waitFor();
  await page.getByText("Enter sends it next, Esc stops").waitFor();
  await messageBox(page).fill("and now?");
  await messageBox(page).press("Enter");
  await page.locator(".queue").getByText("and now?").waitFor();
  await messageBox(page).fill("and then?");
  await messageBox(page).press("Escape");
  await waitForAnswer(page, 1);
  await eventually(async () => assert.equal(await messageBox(page).inputValue(), "and then?"));
}
