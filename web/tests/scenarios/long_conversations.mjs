// A conversation of which the page loads the newest messages first.
import { assert, answers, sendAndWait, userMessages, waitForScrollEnd, eventually } from "../actions.mjs";

const QUESTIONS = 120;
const SHOWN_AT_FIRST = 50;

async function openLong(context) {
  const id = await context.call("long", { questions: QUESTIONS });
  const page = await context.visit(`/c/${id}`);
  await answers(page).last().getByText(`Answer ${QUESTIONS}`, { exact: true }).waitFor();
  await waitForScrollEnd(page);
  return page;
}

const waitForQuestions = (context, page, count) =>
  context.until(`${count} questions are shown`, async () => (await userMessages(page).count()) === count);

/** The top of a question within the view, in pixels. */
const topOf = (page, number) =>
  page.getByText(`Question ${number}`, { exact: true }).evaluate((element) => element.getBoundingClientRect().top);

// thorough
export async function a_long_conversation_opens_with_its_newest_messages(context) {
  const page = await openLong(context);
  await eventually(async () => assert.equal(await userMessages(page).count(), SHOWN_AT_FIRST));
  await eventually(async () => assert.match(await userMessages(page).first().textContent(), new RegExp(`Question ${QUESTIONS - SHOWN_AT_FIRST + 1}(?!\\d)`)));
  await sendAndWait(page, "hello");
  await eventually(async () => assert.equal(await userMessages(page).count(), SHOWN_AT_FIRST + 1));
}

export async function earlier_messages_are_loaded_near_the_top_and_the_view_stays(context) {
  const page = await openLong(context);
  const first = QUESTIONS - SHOWN_AT_FIRST + 1;
  await page.locator(".talk").hover();
  await page.mouse.wheel(0, -10); // what follows counts as the user's scrolling
  const question = await page.getByText(`Question ${first}`, { exact: true }).elementHandle();
  const before = await question.evaluate((element) => {
    element.closest(".talk").scrollTop = 0;
    return element.getBoundingClientRect().top;
  });
  await waitForQuestions(context, page, QUESTIONS);
  await eventually(async () => assert.ok(Math.abs((await topOf(page, first)) - before) < 60, `${before} and then ${await topOf(page, first)}`));
  await context.until("nothing more is offered", async () => (await earlierButton(page).count()) === 0);
  await eventually(async () => assert.match(await userMessages(page).first().textContent(), /Question 1(?!\d)/));
  await page.getByText("The conversation begins here.").waitFor();
}

// thorough
export async function messages_near_the_view_are_laid_out_before_they_are_seen(context) {
  const page = await openLong(context);
  await page.locator("[data-near]").first().waitFor();
  const isAbove = (element) => element.getBoundingClientRect().bottom < 0;
  const first = page.locator(".message[data-near]").first();
  await eventually(async () => assert.equal(await first.evaluate(isAbove), true));
  await eventually(async () => assert.equal(await first.evaluate((element) => getComputedStyle(element).contentVisibility), "visible"));
  const far = page.locator(".message:not([data-near])").first();
  await eventually(async () => assert.equal(await far.evaluate((element) => getComputedStyle(element).contentVisibility), "auto"));
}

// thorough
export async function a_search_of_the_page_loads_all_messages(context) {
  const page = await openLong(context);
  await page.keyboard.press("Control+f");
  await waitForQuestions(context, page, QUESTIONS);
}

const earlierButton = (page) => page.getByRole("button", { name: "Show earlier messages" });

// thorough
export async function a_button_shows_earlier_messages(context) {
  const page = await openLong(context);
  await earlierButton(page).focus();
  await page.keyboard.press("Enter");
  await waitForQuestions(context, page, QUESTIONS);
}
