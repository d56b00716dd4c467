// Messages that are written while an answer runs: they wait above the box, and can be changed until they are sent.
import { checkAccessibility } from "../accessibility_check.mjs";
import { answers, assert, conversationId, messageBox, send, textsOf, userMessages, waitForAnswer, eventually } from "../actions.mjs";
import { attach, textFile } from "../attachments.mjs";

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2, colorScheme: "dark" };
const queue = (page) => page.locator(".queue");
const items = (page) => page.locator(".queue-item");
const texts = (page) => textsOf(page.locator(".queue-text > p:first-child"));
const action = (page, name) => queue(page).getByRole("button", { name, exact: true });
const editor = (page) => page.getByRole("textbox", { name: "Your message", exact: true });

/** A page on which an answer pauses after its first word. */
async function startAnswer(context, settings = {}) {
  const page = await context.visit("/", { on: "echo", ...settings });
  await messageBox(page).fill("Say: one ⏸two");
  await page.locator("button.send:enabled").click();
  await answers(page).last().getByText("one").waitFor();
  await conversationId(page);
  return page;
}

/** Writes a message while an answer runs, and waits until it is queued. */
async function add(page, text) {
  const before = await items(page).count();
  await messageBox(page).fill(text);
  await page.getByRole("button", { name: "Send after this answer" }).click();
  await items(page).nth(before).waitFor();
}

/** Waits until an answer is complete and says something. Between two answers the page is idle for a moment. */
async function waitForWords(context, page, count, words) {
  await waitForAnswer(page, count);
  const answer = answers(page).nth(count - 1);
  await context.until(`answer ${count} says ${words}`, async () => words.test(await answer.innerText()));
  return waitForAnswer(page, count);
}

// thorough
export async function messages_are_sent_one_after_the_other_when_answers_have_ended(context) {
  const page = await startAnswer(context);
  await eventually(async () => assert.equal(await page.getByRole("button", { name: "Send after this answer" }).count(), 0, "nothing is written"));
  await attach(page, textFile("notes.txt", "words"));
  await add(page, "Say: three");
  await add(page, "Say: four");
  await eventually(async () => assert.equal(await messageBox(page).inputValue(), ""));
  await eventually(async () => assert.deepEqual(await texts(page), ["Say: three", "Say: four"]));
  await items(page).first().getByText("notes.txt").waitFor();
  await action(page, "Send “Say: four” earlier").click();
  await context.until("they changed places", async () => (await texts(page))[0] === "Say: four");
  await context.call("resume");
  await answers(page).nth(2).waitFor();
  await waitForWords(context, page, 3, /three/);
  await eventually(async () => assert.equal(await queue(page).count(), 0));
  await eventually(async () => assert.deepEqual((await answers(page).locator(".prose").allInnerTexts()).map((text) => text.trim()), ["one two", "four", "three"]));
  await userMessages(page).last().getByText("notes.txt").first().waitFor();
}

// thorough
export async function a_message_that_was_sent_between_two_looks_of_the_page_is_shown(context) {
  const page = await startAnswer(context);
  await add(page, "Say: three");
  const looks = [];
  await page.route(/conversations\/conv_[^/]+\?newest/, async (route) => {
    if (looks.push(route) > 1) return route.continue();
    const response = await route.fetch(); // the server has sent the message by then
    const conversation = await response.json();
    await route.fulfill({ response, json: { ...conversation, messages: conversation.messages.slice(0, 2), running: false, pending: 1 } });
  });
  await context.call("resume");
  await waitForWords(context, page, 2, /three/);
  await eventually(async () => assert.equal(await queue(page).count(), 0));
}

export async function queued_messages_survive_a_reload_and_can_be_edited_and_removed(context) {
  const page = await startAnswer(context);
  await add(page, "Say: three");
  await add(page, "Say: four");
  await page.reload();
  await items(page).nth(1).waitFor();
  await eventually(async () => assert.deepEqual(await texts(page), ["Say: three", "Say: four"]));
  await action(page, "Edit “Say: three”").click();
  await editor(page).fill("Say: thirty");
  await page.reload(); // an edit that isn't saved is a draft
  await context.until("the draft is there", async () => (await editor(page).inputValue()) === "Say: thirty");
  await queue(page).getByRole("button", { name: "Save" }).click();
  await context.until("it is saved", async () => (await texts(page))[0] === "Say: thirty");
  await action(page, "Remove “Say: four”").click();
  await context.until("it is gone", async () => (await items(page).count()) === 1);
  await context.call("resume");
  await waitForWords(context, page, 2, /thirty/);
  await eventually(async () => assert.equal(await userMessages(page).count(), 2));
}

export async function another_tab_shows_the_queue_and_its_older_edit_is_refused_with_its_words(context) {
  context.allow(/status of 409/);
  const page = await startAnswer(context);
  const other = await context.visit(new URL(page.url()).pathname, { on: "echo", beside: page });
  await answers(other).last().getByText("one").waitFor();
  await add(page, "Say: three");
  await items(other).first().waitFor();
  await action(other, "Edit “Say: three”").click();
  await editor(other).fill("Say: from the other tab");
  await action(page, "Edit “Say: three”").click();
  await editor(page).fill("Say: from this tab");
  await queue(page).getByRole("button", { name: "Save" }).click();
  await context.until("it is saved", async () => (await texts(page))[0] === "Say: from this tab");
  await queue(other).getByRole("button", { name: "Save" }).click();
  await other.getByText(/this message was changed elsewhere meanwhile/).waitFor();
  await other.getByText("It now says: Say: from this tab").waitFor();
  await eventually(async () => assert.equal(await editor(other).inputValue(), "Say: from the other tab"));
  await queue(other).getByRole("button", { name: "Save" }).click();
  await context.until("the second attempt replaces it", async () => (await texts(page))[0] === "Say: from the other tab");
  await context.call("resume");
  for (const tab of [page, other]) {
    await waitForWords(context, tab, 2, /from the other tab/);
    await eventually(async () => assert.equal(await userMessages(tab).count(), 2));
  }
}

// thorough
export async function a_stopped_answer_holds_the_queue_until_one_is_sent_now(context) {
  const page = await startAnswer(context);
  await add(page, "Say: three");
  await add(page, "Say: four");
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await queue(page).getByText("The last answer is incomplete: send one when you are ready.").waitFor();
  await eventually(async () => assert.deepEqual(await texts(page), ["Say: three", "Say: four"]));
  await action(page, "Send “Say: four” now").click();
  await waitForWords(context, page, 3, /three/);
  await eventually(async () => assert.deepEqual((await answers(page).locator(".prose").allInnerTexts()).map((text) => text.trim()), ["one", "four", "three"]));
  await send(page, "Say: five ⏸six");
  await answers(page).nth(3).getByText("five").waitFor();
  await add(page, "Say: seven");
  await action(page, "Stop the answer and send “Say: seven” now").click();
  await waitForWords(context, page, 5, /seven/);
}

// thorough
export async function the_queue_is_used_by_keyboard_alone(context) {
  const page = await startAnswer(context);
  await messageBox(page).press("Escape"); // stops
  await waitForAnswer(page, 1);
  await send(page, "Say: one ⏸two");
  await answers(page).nth(1).getByText("one").waitFor();
  for (const text of ["three", "four"]) {
    await page.keyboard.type(`Say: ${text}`);
    await page.keyboard.press("Enter");
    await queue(page).getByText(`Say: ${text}`).waitFor();
  }
  await page.keyboard.press("Shift+Tab"); // send now
  await page.keyboard.press("Shift+Tab"); // remove
  await page.keyboard.press("Enter");
  await context.until("it is gone", async () => (await items(page).count()) === 1);
  await eventually(async () => assert.equal(await page.evaluate(() => document.activeElement?.className.includes("queue-edit")), true));
  await page.keyboard.press("Enter");
  await page.keyboard.type("!");
  await page.keyboard.press("Enter");
  await context.until("it is saved", async () => (await texts(page))[0] === "Say: three!");
  await context.until("the focus is back", () => page.evaluate(() => document.activeElement?.className.includes("queue-edit")));
  await context.call("resume");
  await waitForWords(context, page, 3, /three!/);
}

// thorough
export async function the_queue_on_a_dark_phone_is_accessible_and_fits(context) {
  const page = await startAnswer(context, PHONE);
  await attach(page, textFile("a-rather-long-name-of-a-file-with-notes-of-the-whole-year.txt", "words"));
  await add(page, `Say: ${"a long message without an end and ".repeat(12)}`);
  await add(page, "Say: four");
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= 390, `${width} pixels`);
  await checkAccessibility(page, context.input.displays ?? 2);
  await page.setViewportSize(PHONE.viewport);
  await items(page).last().getByRole("button", { name: /^Edit/ }).click();
  await checkAccessibility(page, context.input.displays ?? 2);
  await context.call("resume");
}

// thorough
export async function the_queue_speaks_german(context) {
  const page = await context.visit("/", { on: "echo", locale: "de-DE" });
  await page.locator(".composer-text").fill("Say: one ⏸two");
  await page.locator("button.send:enabled").click();
  await page.locator(".answer").getByText("one").waitFor();
  await page.locator(".composer-text").fill("Say: three");
  await page.getByRole("button", { name: "Nach dieser Antwort senden" }).click();
  await queue(page).getByText("1 Nachricht folgt.").waitFor();
  await action(page, "„Say: three“ bearbeiten").waitFor();
  await page.getByRole("button", { name: "Anhalten", exact: true }).click();
  await queue(page).getByText("Die letzte Antwort ist unvollständig: Senden Sie eine, wenn Sie so weit sind.").waitFor();
  await action(page, "„Say: three“ jetzt senden").click();
  await page.locator(".answer").nth(1).getByText("three").waitFor();
}
