// What is in view while a conversation grows: the newest answer, unless the user scrolls elsewhere.
import { waitForAnswer, answers, sendAndWait, assert, waitForScrollEnd, messageBox, conversationId, userMessages, send, eventually } from "../actions.mjs";

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };
const LONG = Array.from({ length: 40 }, (_, index) => `Line ${index} of a long question, which fills the view.`).join("\n");

/** Whether the top of an element is in view. */
const topInView = (locator) =>
  locator.evaluate((element) => {
    const [box, view] = [element.getBoundingClientRect(), document.querySelector(".talk").getBoundingClientRect()];
    return box.top >= view.top - 1 && box.top < view.bottom - 20;
  });

/** Whether the last answer is in view once scrolling has ended. */
async function lastAnswerInView(page) {
  await waitForScrollEnd(page);
  return topInView(answers(page).last());
}

const MESSAGES = ["hello", "/chart title=Sales values=[3,1,2]", "one\ntwo\nthree\nfour\nfive\nsix", "again", "/chart title=More values=[1,2,3]"];

async function sendAll(context, settings, send) {
  const page = await context.visit("/", settings);
  await messageBox(page).waitFor();
  const inView = [];
  for (const [index, text] of MESSAGES.entries()) {
    await send(page, text);
    await waitForAnswer(page, index + 1);
    inView.push(await lastAnswerInView(page));
  }
  assert.deepEqual(inView, MESSAGES.map(() => true));
  return page;
}

// thorough
export async function an_unstreamed_answer_is_in_view_after_every_send(context) {
  const page = await sendAll(context, {}, send);
  await answers(page).last().hover();
  await answers(page).last().getByRole("button", { name: "Answer again" }).click();
  await waitForAnswer(page, 5);
  await eventually(async () => assert.equal(await lastAnswerInView(page), true, "answered again"));
}

// thorough
export async function an_unstreamed_answer_is_in_view_on_a_phone(context) {
  await sendAll(context, PHONE, async (page, text) => {
    await messageBox(page).tap();
    await messageBox(page).fill(text);
    await page.locator("button.send:enabled").tap();
  });
}

// thorough
export async function the_first_answer_in_an_opened_long_conversation_is_in_view(context) {
  const writer = await context.visit("/");
  for (let index = 0; index < 8; index++) await sendAndWait(writer, index % 2 ? LONG : `/chart title=T${index} values=[1,2,3]`);
  const page = await context.visit(`/c/${await conversationId(writer)}`, { beside: writer });
  await answers(page).nth(7).waitFor();
  await send(page, "hello");
  await waitForAnswer(page, 9);
  await eventually(async () => assert.equal(await lastAnswerInView(page), true));
}

// thorough
export async function scrolling_up_stops_automatic_scrolling(context) {
  const page = await context.visit("/", { on: "echo" });
  const lines = (name) => Array.from({ length: 60 }, (_, index) => `${name} ${index}`).join("\n\n");
  await sendAndWait(page, `Say: ${lines("first")}`);
  await send(page, `Say: ${lines("second")} ⏸ ${lines("third")}`);
  await answers(page).nth(1).getByText("second 59").waitFor();
  await answers(page).last().hover();
  await page.mouse.wheel(0, -3000);
  await waitForScrollEnd(page);
  const before = await page.locator(".talk").evaluate((element) => element.scrollTop);
  await context.call("resume");
  await waitForAnswer(page, 2);
  await eventually(async () => assert.ok(Math.abs((await page.locator(".talk").evaluate((element) => element.scrollTop)) - before) < 5));
  await eventually(async () => assert.equal(await topInView(userMessages(page).last()), false));
}

// thorough
export async function the_start_page_opens_at_the_top(context) {
  for (const viewport of [{ width: 844, height: 390 }, { width: 320, height: 568 }, { width: 375, height: 667 }]) {
    const page = await context.visit("/", { ...PHONE, viewport });
    await page.locator(".example").nth(2).waitFor();
    await waitForScrollEnd(page);
    await eventually(async () => assert.equal(await page.locator(".talk").evaluate((element) => element.scrollTop), 0, `${viewport.width}`));
    await eventually(async () => assert.equal(await page.getByRole("button", { name: "Go to the newest message" }).count(), 0));
  }
}
