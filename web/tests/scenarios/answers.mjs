// Answers while they stream (reload, two tabs, stop) and afterwards (regenerate, edit, another model).
import { checkAccessibility, PHONE } from "../accessibility_check.mjs";
import { waitForAnswer, answers, sendAndWait, assert, messageBox, conversationId, userMessages, send, eventually } from "../actions.mjs";
import { attach, imageFile } from "../attachments.mjs";

const lastAnswer = (page) => answers(page).last();

/** A page whose answer has streamed its first word and pauses. */
async function startAnswer(context, message = "Say: one ⏸two ⏸three") {
  const page = await context.visit("/", { on: "echo" });
  await send(page, message);
  await lastAnswer(page).getByText("one").waitFor();
  await conversationId(page);
  return page;
}

export async function a_reload_during_a_stream_loses_and_duplicates_nothing(context) {
  const page = await startAnswer(context);
  await page.reload();
  await lastAnswer(page).getByText("one").waitFor();
  await context.call("resume");
  await lastAnswer(page).getByText("one two").waitFor();
  await page.reload();
  await lastAnswer(page).getByText("one two").waitFor();
  await context.call("resume");
  const answer = await waitForAnswer(page);
  await eventually(async () => assert.equal((await answer.locator(".prose").innerText()).trim(), "one two three"));
  await eventually(async () => assert.deepEqual([await userMessages(page).count(), await answers(page).count()], [1, 1]));
}

// thorough
export async function two_tabs_show_the_same_streams_and_messages(context) {
  const page = await startAnswer(context);
  const other = await context.visit(new URL(page.url()).pathname, { on: "echo", beside: page });
  await lastAnswer(other).getByText("one").waitFor();
  await context.call("resume", { times: 2 });
  for (const tab of [page, other]) {
    const answer = await waitForAnswer(tab);
    await eventually(async () => assert.equal((await answer.locator(".prose").innerText()).trim(), "one two three"));
    await eventually(async () => assert.equal(await answers(tab).count(), 1));
  }
  await send(page, "Say: again ⏸and on");
  await answers(other).nth(1).getByText("again").waitFor();
  await context.call("resume");
  await waitForAnswer(other, 2);
  await eventually(async () => assert.match(await lastAnswer(other).innerText(), /again and on/));
}

export async function a_stopped_answer_keeps_its_text_and_goes_on(context) {
  const page = await startAnswer(context);
  await page.getByRole("button", { name: "Stop" }).click();
  const answer = await waitForAnswer(page);
  await answer.getByText("Stopped.").waitFor();
  await eventually(async () => assert.match(await answer.innerText(), /one/));
  await page.reload();
  await eventually(async () => assert.match(await (await waitForAnswer(page)).innerText(), /one[^]*Stopped\./));
  await lastAnswer(page).getByRole("button", { name: "Continue" }).click();
  await waitForAnswer(page, 2);
  await userMessages(page).nth(1).getByText("Go on.").waitFor();
  await answers(page).first().getByText("Stopped.").waitFor();
  await eventually(async () => assert.equal(await page.getByRole("button", { name: "Continue" }).count(), 0));
}

export async function an_edited_message_starts_a_branch_and_the_old_one_stays(context) {
  const page = await context.visit("/", { on: "echo" });
  await sendAndWait(page, "Say: apples");
  await userMessages(page).first().hover();
  await page.getByRole("button", { name: "Edit your message" }).click();
  await page.getByRole("textbox", { name: "Your message" }).fill("Say: pears");
  await page.keyboard.press("Enter");
  await lastAnswer(page).getByText("pears").waitFor();
  await waitForAnswer(page);
  await eventually(async () => assert.equal(await userMessages(page).count(), 1));
  await userMessages(page).getByText("2/2").waitFor();
  await page.getByRole("button", { name: "Previous branch" }).first().click();
  await lastAnswer(page).getByText("apples").waitFor();
  await page.reload();
  await lastAnswer(page).getByText("apples").waitFor();
  await userMessages(page).getByText("1/2").waitFor();
}

// thorough
export async function a_message_with_a_long_name_is_edited_on_a_phone(context) {
  const page = await context.visit("/", { on: "echo", viewport: PHONE });
  await attach(page, imageFile(`${"the_third_photo_of_the_homework_".repeat(2)}.png`));
  await sendAndWait(page, "Say: apples");
  await page.getByRole("button", { name: "Edit your message" }).click();
  const box = page.getByRole("textbox", { name: "Your message" });
  const [end, limit] = await box.evaluate((one) => [one.getBoundingClientRect(), one.closest(".column").getBoundingClientRect()].map((each) => each.right));
  assert.ok(end <= limit, `the box ends at ${end}, the column at ${limit}`);
}

// thorough
export async function an_answer_can_be_regenerated(context) {
  const page = await context.visit("/", { on: "echo" });
  const answer = await sendAndWait(page, "Say: apples");
  await eventually(async () => assert.equal(await answer.getByRole("button", { name: "Continue" }).count(), 0, "it is complete"));
  await answer.getByRole("button", { name: "Answer again" }).click();
  await context.until("the second answer is there", async () => {
    const conversation = await context.get(page, `/api/conversations/${await conversationId(page)}`);
    return !conversation.running && conversation.messages.length === 2;
  });
  await waitForAnswer(page);
  await lastAnswer(page).getByText("2/2").waitFor();
  await lastAnswer(page).getByRole("button", { name: "Previous branch" }).click();
  await lastAnswer(page).getByText("1/2").waitFor();
  await eventually(async () => assert.deepEqual([await userMessages(page).count(), await answers(page).count()], [1, 1]));
}

// thorough
export async function a_conversation_can_continue_with_another_model(context) {
  const page = await context.visit("/", { on: "echo" });
  await sendAndWait(page, "Say: I am Claude");
  await page.locator(".bar .model").click();
  await page.getByRole("searchbox", { name: "Search models" }).fill("inspector");
  await page.locator(".model-row:enabled").first().click();
  const answer = await sendAndWait(page, "Hello");
  await eventually(async () => assert.match(await answer.innerText(), /not a language model/));
  await page.reload();
  await waitForAnswer(page, 2);
  await eventually(async () => assert.match(await page.locator(".bar .model").innerText(), /inspector/i));
}

// thorough
export async function reasoning_is_collapsed(context) {
  const page = await context.visit("/", { on: "echo" });
  const answer = await sendAndWait(page, "Say: <think>hidden depths</think>the surface");
  await eventually(async () => assert.equal(await answer.getByText("hidden depths").isVisible(), false));
  await answer.getByText("Thoughts").click();
  await answer.getByText("hidden depths").waitFor();
}

/** The first answer of the inspector to a picture, whose facts are folded. */
async function seePicture(context, settings = {}) {
  const page = await context.visit("/", settings);
  await attach(page, imageFile("wall.png"));
  await page.locator(".composer-text").fill("look");
  await page.locator("button.send:enabled:not(.stop)").click();
  const answer = page.locator(".answer");
  await answer.locator(".receipts-opener").waitFor();
  return { page, answer };
}

// thorough
export async function the_inspector_says_what_it_saw_and_folds_the_facts(context) {
  const { page, answer } = await seePicture(context);
  await eventually(async () => assert.match(await answer.innerText(), /not a language model[^]*Image 1, wall\.png: 2 × 2 pixels/));
  const [summary, facts] = [answer.getByText("Details", { exact: true }), answer.getByText(/sha256 [0-9a-f]{64}/)];
  await summary.waitFor(); // until then the text is plain
  await eventually(async () => assert.equal(await facts.isVisible(), false));
  await summary.focus();
  await page.keyboard.press("Enter");
  await facts.waitFor();
  await checkAccessibility(page, 2);
  const again = await sendAndWait(page, "describe image 1");
  await eventually(async () => assert.doesNotMatch(await again.innerText(), /language model/));
}

// thorough
export async function the_facts_of_an_answer_are_folded_in_german(context) {
  const { page, answer } = await seePicture(context, { locale: "de-DE", viewport: PHONE });
  await answer.getByText("Einzelheiten", { exact: true }).click();
  await answer.getByText(/sha256 [0-9a-f]{64}/).waitFor();
  await checkAccessibility(page, 2);
  await eventually(async () => assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false));
}

// thorough
export async function an_answer_is_copied_as_markdown(context) {
  const page = await context.visit("/", { on: "echo", permissions: ["clipboard-read", "clipboard-write"] });
  const answer = await sendAndWait(page, "Say: **bold** and `code`");
  await answer.getByRole("button", { name: "Copy the answer" }).click();
  await answer.getByRole("button", { name: "Copied" }).waitFor();
  await messageBox(page).press("Control+V"); // scripts of the page may not read the clipboard
  await eventually(async () => assert.equal(await messageBox(page).inputValue(), "**bold** and `code`"));
}

// thorough
export async function a_long_answer_is_shown_from_its_beginning(context) {
  const page = await context.visit("/", { on: "echo" });
  await sendAndWait(page, "Say: hello");
  await sendAndWait(page, `Say: ${Array.from({ length: 90 }, (_, index) => `line ${index}`).join("\n\n")}`);
  const inView = (locator) => locator.evaluate((element) => {
    const [box, view] = [element.getBoundingClientRect(), document.querySelector(".talk").getBoundingClientRect()];
    return box.bottom > view.top && box.top < view.bottom;
  });
  await eventually(async () => assert.equal(await inView(lastAnswer(page).getByText("line 0", { exact: true })), true));
  await eventually(async () => assert.equal(await inView(lastAnswer(page).getByText("line 89", { exact: true })), false));
  await page.getByRole("button", { name: "Go to the newest message" }).click();
  await eventually(async () => assert.equal(await inView(lastAnswer(page).getByText("line 89", { exact: true })), true));
}

// thorough
export async function words_in_a_wide_table_do_not_wrap_and_arabic_text_starts_at_the_right(context) {
  const page = await context.visit("/", { on: "echo", viewport: { width: 390, height: 844 } });
  const row = (word) => `|${Array.from({ length: 12 }, () => word).join("|")}|`;
  const answer = await sendAndWait(page, `Say: ${row("column")}\n${row("---")}\n${row("value")}\n\nhello\n\nمرحبا`);
  const rectOf = (locator) => locator.evaluate((element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    return { lines: range.getClientRects().length, left: range.getBoundingClientRect().left };
  });
  await eventually(async () => assert.equal((await rectOf(answer.getByRole("cell", { name: "value" }).first())).lines, 1));
  await eventually(async () => assert.ok((await rectOf(answer.getByText("مرحبا"))).left > (await rectOf(answer.getByText("hello"))).left + 100));
}
