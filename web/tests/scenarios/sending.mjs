// What is said before something is sent, and what is offered where it was not taken.
import { answered, answers, ask, assert, box, idOf, questions, say } from "../doing.mjs";
import { archive, believe, pick, picker, picture, text, tray } from "../giving.mjs";

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };
const sending = (page) => page.getByRole("button", { name: "Send", exact: true });

export async function a_file_that_no_model_is_shown_is_said_to_be_refused_before_it_is_sent(scene) {
  const page = await scene.visit("/");
  await pick(page, archive("stuff.zip"), picture("dot.png"));
  await box(page).fill("What are these?");
  await tray(page).getByText(/can’t be shown/).waitFor();
  assert.equal(await tray(page).locator(".tray-problem").count(), 1, "only the one");
  assert.equal(await sending(page).isEnabled(), false);
  await box(page).press("Enter");
  assert.equal(await questions(page).count(), 0);
  await tray(page).getByRole("button", { name: "Remove stuff.zip" }).click();
  await page.locator("button.send:enabled").click();
  await answered(page, 1);
}

export async function what_becomes_of_a_file_is_said_for_the_model_that_is_chosen(scene) {
  const page = await scene.visit("/");
  const plain = await scene.get(page, "/api/models");
  const [first, ...others] = plain.models;
  const blind = { ...first, id: "inspector:blind", name: "Blind", takes: { ...first.takes, image: "refused", document: "words" } };
  await page.route("**/api/models", (route) => route.fulfill({ json: { default: first.id, models: [first, blind, ...others] } }));
  await page.reload();
  await pick(page, picture("dot.png"), text("notes.txt", "words"));
  await box(page).fill("What are these?");
  assert.equal(await tray(page).locator(".tray-problem").count(), 0);
  assert.equal(await sending(page).isEnabled(), true);
  await page.locator("main .model").click();
  await page.locator(".model-row", { hasText: "Blind" }).click();
  await tray(page).getByText("Blind can’t be shown an image. Choose another model, or take it out.").waitFor();
  assert.equal(await sending(page).isEnabled(), false);
}

/** A tenth of a second of silence: WAV, 8 kHz, 16 bits. */
function silence(name) {
  const [head, sound] = [Buffer.alloc(44), Buffer.alloc(1600)];
  head.write("RIFF");
  head.writeUInt32LE(36 + sound.length, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  for (const [at, value] of [[20, 1], [22, 1], [32, 2], [34, 16]]) head.writeUInt16LE(value, at);
  for (const [at, value] of [[24, 8000], [28, 16_000], [40, sound.length]]) head.writeUInt32LE(value, at);
  head.write("data", 36);
  return { name, mimeType: "audio/wav", buffer: Buffer.concat([head, sound]) };
}

export async function a_sound_is_said_to_be_written_down_for_a_model_that_hears_none(scene) {
  const page = await scene.visit("/");
  await pick(page, silence("talk.wav"));
  await tray(page).getByText("given as what is said in it, written down").waitFor();
  await box(page).fill("What is this?");
  assert.equal(await sending(page).isEnabled(), true, "it isn't refused");
}

export async function a_refusal_of_a_file_offers_no_second_try(scene) {
  const page = await scene.visit("/");
  await believe(page);
  await pick(page, archive("stuff.zip"));
  const refused = await ask(page, "What is it?");
  await refused.getByText(/choose another model, or edit the message and leave the file out/).waitFor();
  await refused.getByText(/can't be shown file 1 \(stuff\.zip\)/).waitFor();
  assert.equal(await page.getByRole("button", { name: "Try again" }).count(), 0);
  assert.equal(await page.getByText("What you wrote is back in the box.").count(), 0);
  await refused.hover();
  await refused.getByRole("button", { name: "Answer again" }).waitFor(); // by another model
}

export async function a_yes_that_comes_too_late_is_told_what_became_of_it(scene) {
  scene.allow(/status of 4(09|22)/);
  const page = await scene.visit("/");
  const question = (one) => one.getByRole("group", { name: "May send_money run?" });
  await say(page, "/send_money amount=50");
  await question(page).waitFor();
  await idOf(page);
  const late = await scene.visit(new URL(page.url()).pathname); // another browser, which hears nothing of this one
  await question(late).waitFor();
  await question(page).getByRole("button", { name: "No", exact: true }).click();
  await (await answered(page, 1)).getByText("declined").waitFor();
  await question(late).getByRole("button", { name: "Yes, run it" }).click();
  await late.getByText(/decided already/).waitFor();
  await answers(late).getByText("declined").waitFor();
  assert.equal(await late.getByRole("button", { name: "Try again" }).count(), 0);
  assert.equal(await late.getByRole("alert").count(), 0);
  assert.equal(await question(late).count(), 0);
  assert.doesNotMatch(await answers(late).last().innerText(), /were sent/);
}

export async function on_a_phone_enter_begins_a_line_and_the_button_sends(scene) {
  const page = await scene.visit("/", { on: "own", ...PHONE });
  await box(page).pressSequentially("first");
  await box(page).press("Enter");
  await box(page).pressSequentially("second");
  assert.equal(await box(page).inputValue(), "first\nsecond");
  assert.equal(await questions(page).count(), 0);
  await sending(page).click();
  const answer = await answered(page, 1);
  assert.match(await questions(page).innerText(), /first\nsecond/);
  await answer.waitFor();
  await page.getByRole("button", { name: "Edit your message" }).click();
  const edit = page.getByRole("textbox", { name: "Your message" });
  await edit.press("Enter");
  assert.equal(await edit.inputValue(), "first\nsecond\n");
}

export async function a_file_that_did_not_arrive_is_never_left_out_without_a_word(scene) {
  scene.allow(/status of 503|Failed to load/);
  const page = await scene.visit("/");
  await page.route("**/api/attachments?**", (route) => route.fulfill({ status: 503, body: "" }));
  await picker(page).setInputFiles([text("lost.txt", "words")]);
  await tray(page).locator(".tray-problem").waitFor();
  await box(page).fill("What is in it?");
  assert.equal(await sending(page).isEnabled(), false);
  await box(page).press("Enter");
  assert.equal(await questions(page).count(), 0);
  await page.getByText("Remove what is red, or try again").waitFor();
  await page.unroute("**/api/attachments?**");
  await tray(page).getByRole("button", { name: "Try lost.txt again" }).click();
  await page.locator("button.send:enabled").click();
  await answered(page, 1);
  await questions(page).getByText("lost.txt").first().waitFor();
}

export async function while_an_answer_is_written_the_box_says_what_enter_waits_for_and_escape_stops(scene) {
  const page = await scene.visit("/", { on: "spoken" });
  await say(page, "Say: one ⏸ two");
  await answers(page).getByText("one").waitFor();
  await page.getByText("Stop first (Esc), or wait").waitFor();
  await box(page).fill("and now?");
  await box(page).press("Enter");
  assert.equal(await box(page).inputValue(), "and now?");
  await box(page).press("Escape");
  await answered(page, 1);
  assert.equal(await box(page).inputValue(), "and now?");
}
