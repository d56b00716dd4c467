// Notifications of long answers that end while the user looks elsewhere.
import { checkAccessibility } from "../accessibility_check.mjs";
import { answers, assert, conversationId, send, sendAndWait, waitForAnswer, eventually } from "../actions.mjs";
import { clickLast, fakeNotifications, shownOn } from "../notification.mjs";

const choiceOn = (page) => page.getByRole("checkbox", { name: "Notify me when a long answer ends" });
const startNew = async (page) => {
  await page.getByRole("link", { name: "New conversation" }).click();
  await page.getByRole("heading", { name: "What shall we look at?" }).waitFor();
};

/** A browser whose user wants notifications. */
async function openWithNotifications(context, on = "echo") {
  const page = await context.visit("/settings", { on });
  await fakeNotifications(page);
  await choiceOn(page).click();
  await context.until("it is on", () => choiceOn(page).isChecked());
  return page;
}

/** Lets each answer look as if it had taken 11 seconds longer. */
async function makeLong(page) {
  await page.route(/newest=1$/, async (route) => {
    const response = await route.fetch().catch(() => null);
    if (!response) return route.abort().catch(() => {});
    const json = await response.json();
    for (const { metadata } of json.messages ?? []) if (metadata?.finished) metadata.created -= 11;
    await route.fulfill({ response, json }).catch(() => {});
  });
}

const hide = (page, isHidden) =>
  page.evaluate((isHidden) => {
    window.__notifications.isHidden = isHidden;
    document.dispatchEvent(new Event("visibilitychange"));
  }, isHidden);

const untilShown = (context, page, count) =>
  context.until(`${count} are shown`, async () => (await shownOn(page)).length === count);

// thorough
export async function the_browser_asks_after_the_click_alone(context) {
  const page = await context.visit("/settings", { on: "echo" });
  await fakeNotifications(page);
  await choiceOn(page).waitFor();
  await eventually(async () => assert.equal(await page.evaluate(() => window.__notifications.asked), 0));
  await choiceOn(page).focus();
  await page.keyboard.press("Space");
  await context.until("a sample is shown", () => page.evaluate(() => window.__notifications.shown.length === 1));
  await eventually(async () => assert.ok(await choiceOn(page).isChecked()));
  await page.reload();
  await eventually(async () => assert.ok(await choiceOn(page).isChecked()));
  await checkAccessibility(page, context.input.displays ?? 2);
  await choiceOn(page).click();
  await eventually(async () => assert.equal(await page.evaluate(() => localStorage.getItem("showandtell.notify")), null));
}

// thorough
export async function a_browser_that_blocks_or_has_no_notifications_says_so(context) {
  const page = await context.visit("/settings", { on: "echo" });
  await fakeNotifications(page, { answer: "denied" });
  await choiceOn(page).click();
  await page.getByText("Your browser blocks notifications of this page.").waitFor();
  await eventually(async () => assert.equal(await choiceOn(page).isChecked(), false));
  await checkAccessibility(page, context.input.displays ?? 2);
  const other = await context.visit("/settings", { on: "echo" });
  await fakeNotifications(other, { isMissing: true });
  await choiceOn(other).click();
  await other.getByText("This browser shows no notifications of pages").waitFor();
  await eventually(async () => assert.equal(await choiceOn(other).isChecked(), false));
}

export async function a_long_answer_is_announced_while_another_conversation_is_shown(context) {
  const page = await openWithNotifications(context);
  await startNew(page);
  await send(page, "Say: soon⏸ done");
  await conversationId(page);
  await startNew(page);
  await context.call("resume");
  await context.until("the short answer has ended", () => page.evaluate(() => sessionStorage.getItem("showandtell.awaited") === "[]"));
  await makeLong(page);
  await send(page, "Say: secret⏸ done");
  const id = await conversationId(page);
  await startNew(page);
  await page.reload();
  await context.call("resume");
  await untilShown(context, page, 1);
  await eventually(async () => assert.deepEqual(await shownOn(page), [["Say: secret⏸ done", "The answer is complete."]]));
  await clickLast(page);
  await eventually(async () => assert.equal(await conversationId(page), id));
  await eventually(async () => assert.equal(await page.evaluate(() => window.__notifications.focused), 1));
  await waitForAnswer(page, 1);
}

// thorough
export async function only_a_hidden_page_announces_the_answer_that_it_shows(context) {
  const page = await openWithNotifications(context);
  await makeLong(page);
  await startNew(page);
  await sendAndWait(page, "Say: one");
  await context.until("it was seen", () => page.evaluate(() => localStorage.getItem("showandtell.announced") !== null));
  await eventually(async () => assert.deepEqual(await shownOn(page), []));
  await send(page, "Say: two⏸ done");
  await answers(page).nth(1).waitFor();
  await hide(page, true);
  await context.call("resume");
  await untilShown(context, page, 1);
  await hide(page, false);
  await waitForAnswer(page, 2);
}

// thorough
export async function two_tabs_announce_an_answer_once_and_not_while_one_shows_it(context) {
  const page = await openWithNotifications(context);
  await startNew(page);
  const other = await context.visit("/", { beside: page, on: "echo" });
  for (const each of [page, other]) await makeLong(each);
  await sendAndWait(page, "Say: seen");
  await context.until("it was seen", () => page.evaluate(() => localStorage.getItem("showandtell.announced") !== null));
  await send(page, "Say: two⏸ done");
  await answers(page).nth(1).waitFor();
  await startNew(page);
  await context.call("resume");
  const shown = async () => [...(await shownOn(page)), ...(await shownOn(other))];
  await context.until("it is announced", async () => (await shown()).length > 0);
  const left = (each) => each.evaluate(() => sessionStorage.getItem("showandtell.awaited") ?? "[]");
  await context.until("both looked", async () => (await left(page)) === "[]" && (await left(other)) === "[]");
  await eventually(async () => assert.deepEqual(await shown(), [["Say: seen", "The answer is complete."]]));
}

// thorough
export async function a_call_that_waits_and_a_failure_are_announced(context) {
  const cases = [
    ["echo", "Fail: 400, then say hello", "The answer failed."],
    ["inspector", "/send_money amount=3", "A tool waits for your approval."],
  ];
  for (const [on, text, state] of cases) {
    const page = await openWithNotifications(context, on);
    await makeLong(page);
    await startNew(page);
    await hide(page, true);
    await send(page, text);
    await untilShown(context, page, 1);
    await eventually(async () => assert.deepEqual(await shownOn(page), [[text, state]]));
  }
}
