// Voice input: the browser hears, and its words go into the message.
import { checkAccessibility, PHONE } from "../accessibility_check.mjs";
import { assert, leaveDialogs, messageBox, send, userMessages, waitForAnswer, eventually } from "../actions.mjs";
import { failWith, fakeSpeech, recognitionsOf, say } from "../speech.mjs";

const start = (page) => page.getByRole("button", { name: "Dictate", exact: true });
const stop = (page) => page.getByRole("button", { name: "Stop dictating (Esc)" });

/** A page that can hear; `hasRead` skips the note before the first use. */
async function open(context, { hasRead = true, ...settings } = {}) {
  const page = await context.visit("/", settings);
  if (hasRead) await page.evaluate(() => localStorage.setItem("showandtell.voice.read", "1"));
  await fakeSpeech(page);
  return page;
}

const untilValue = (context, page, text) =>
  context.until(`the message is ${text}`, async () => (await messageBox(page).inputValue()) === text);

export async function the_first_dictation_says_where_the_sound_may_go(context) {
  const page = await open(context, { hasRead: false });
  await start(page).focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Dictate a message" });
  await dialog.getByText("It may send the sound to its vendor").waitFor();
  await eventually(async () => assert.deepEqual(await recognitionsOf(page), []));
  await checkAccessibility(page, context.input.displays ?? 2);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await eventually(async () => assert.deepEqual(await recognitionsOf(page), []));
  await start(page).click();
  await dialog.getByRole("button", { name: "Start dictating" }).click();
  await stop(page).waitFor();
  await leaveDialogs(page);
  await page.reload();
  await start(page).click();
  await stop(page).waitFor();
}

// thorough
export async function what_is_heard_appears_at_the_cursor_word_by_word(context) {
  const page = await open(context, { locale: "en-US" });
  await start(page).waitFor();
  await messageBox(page).fill("Hello world");
  await messageBox(page).evaluate((box) => box.setSelectionRange(5, 5));
  await start(page).click();
  await stop(page).waitFor();
  await say(page, ["deer"]);
  await untilValue(context, page, "Hello deer world");
  await say(page, ["dear", " old"], true);
  await untilValue(context, page, "Hello dear old world");
  await checkAccessibility(page, context.input.displays ?? 2);
  await page.keyboard.press("Escape");
  await start(page).waitFor();
  await eventually(async () => assert.deepEqual((await recognitionsOf(page)).map(({ lang, calls }) => [lang, calls]), [["en-US", ["start", "stop"]]]));
  await eventually(async () => assert.ok(await messageBox(page).evaluate((box) => box === document.activeElement)));
  await messageBox(page).press("Enter");
  await userMessages(page).getByText("Hello dear old world").waitFor();
}

// thorough
export async function a_message_that_is_sent_ends_the_dictation(context) {
  const page = await open(context);
  await start(page).click();
  await stop(page).waitFor();
  await say(page, ["hello"]);
  await untilValue(context, page, "hello");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await context.until("it has ended", async () => (await recognitionsOf(page))[0].calls.includes("abort"));
  await waitForAnswer(page, 1);
  await eventually(async () => assert.equal(await messageBox(page).inputValue(), ""));
  await eventually(async () => assert.equal(await page.locator(".toast").count(), 0));
}

// thorough
export async function escape_ends_the_dictation_and_not_the_answer(context) {
  const page = await open(context, { on: "echo" });
  await start(page).waitFor();
  await send(page, "Say: one⏸ two");
  await page.getByRole("button", { name: "Stop", exact: true }).waitFor();
  await start(page).click();
  await stop(page).waitFor();
  await say(page, ["next"]);
  await page.keyboard.press("Escape");
  await start(page).waitFor();
  await context.call("resume");
  await eventually(async () => assert.match(await (await waitForAnswer(page, 1)).innerText(), /one two/));
  await untilValue(context, page, "next");
}

// thorough
export async function errors_of_the_dictation_are_put_in_words(context) {
  const page = await open(context);
  const errors = [
    ["not-allowed", "The browser doesn’t allow the microphone for this page."],
    ["no-speech", "Nothing was heard."],
    ["network", "The browser’s speech recognition can’t be reached."],
    ["bad-grammar", "The browser’s speech recognition failed."],
  ];
  for (const [error, words] of errors) {
    await start(page).click();
    await stop(page).waitFor();
    await failWith(page, error);
    await page.locator(".toast").getByText(words).waitFor();
    await start(page).waitFor();
  }
}

// thorough
export async function a_browser_that_can_not_hear_has_no_button(context) {
  const page = await context.visit("/");
  await fakeSpeech(page, { isMissing: true });
  const settings = await context.visit("/settings", { beside: page });
  await settings.getByRole("group", { name: "Language" }).waitFor();
  await eventually(async () => assert.equal(await settings.getByText("Language of dictation").count(), 0));
  await page.clock.install();
  await page.reload();
  await page.locator(".example").nth(2).waitFor();
  await page.clock.runFor(10_000);
  await eventually(async () => assert.equal(await start(page).count(), 0));
}

// thorough
export async function the_language_of_the_dictation_is_the_pages_or_another_one(context) {
  const page = await open(context, { locale: "de-DE", colorScheme: "dark", viewport: PHONE });
  const begin = page.getByRole("button", { name: "Diktieren" });
  const end = page.getByRole("button", { name: "Diktat beenden (Esc)" });
  await begin.click();
  await end.waitFor();
  await eventually(async () => assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), PHONE.width));
  await end.click();
  await begin.waitFor();
  const settings = await context.visit("/settings", { beside: page });
  await settings.getByRole("combobox", { name: "Sprache des Diktats" }).selectOption({ label: "Französisch (Frankreich)" });
  await checkAccessibility(settings, context.input.displays ?? 2);
  await begin.click();
  await end.waitFor();
  await eventually(async () => assert.deepEqual((await recognitionsOf(page)).map(({ lang }) => lang), ["de-DE", "fr-FR"]));
}
