// The start page and its three examples, which need no API key.
import { checkAccessibility } from "../accessibility_check.mjs";
import { waitForAnswer, answers, assert, waitForImages, userMessages, eventually } from "../actions.mjs";
import { countBytes } from "../bytes.mjs";

async function openExample(context, title) {
  const page = await context.visit("/");
  await page.getByRole("button", { name: title }).click();
  const answer = await waitForAnswer(page, 1);
  await eventually(async () => assert.equal(await userMessages(page).count(), 1));
  return { page, answer };
}

// thorough
export async function the_first_visit_shows_three_examples(context) {
  const page = await context.visit("/");
  await page.getByRole("heading", { name: "What shall we look at?" }).waitFor();
  await page.locator(".example").nth(2).waitFor();
  await eventually(async () => assert.equal(await page.locator(".example").count(), 3));
  assert.equal(new URL(page.url()).search, "", "the token doesn't stay in the address");
}

// thorough
export async function the_example_of_a_chart_draws_a_table(context) {
  const { page, answer } = await openExample(context, "Draw a chart");
  await userMessages(page).getByRole("figure", { name: "text 1: visitors.csv" }).waitFor();
  await waitForImages(context, answer);
  const figure = answer.getByRole("figure", { name: /^image 2: / });
  await eventually(async () => assert.match(await figure.innerText(), /tool chart/));
  await eventually(async () => assert.match(await answer.innerText(), /Image 2, chart\.png: 720 × 420 pixels/));
  await eventually(async () => assert.equal(await answers(page).count(), 1));
  await checkAccessibility(page, 2);
}

// thorough
export async function the_example_of_a_guide_shows_its_pages_one_by_one(context) {
  const { page, answer } = await openExample(context, "Read a PDF page by page");
  await userMessages(page).getByRole("figure", { name: "document 1: guide.pdf" }).waitFor();
  for (const number of [1, 2, 3]) await eventually(async () => assert.match(await answer.innerText(), new RegExp(`Page ${number} of 3:`)));
  await waitForImages(context, answer);
  await answer.getByRole("button", { name: "Open page 2 of document 1" }).click();
  await page.getByRole("dialog", { name: "document 1: guide.pdf" }).getByRole("img", { name: "Page 2" }).waitFor();
  await page.keyboard.press("Escape");
  await eventually(async () => assert.match(await answer.innerText(), /Document 1, guide\.pdf, page 3: \d+ × \d+ pixels, mostly white and green/));
  await checkAccessibility(page, 2);
}

// thorough
export async function the_example_of_two_apis_shows_side_by_side_what_each_was_given(context) {
  const page = await context.visit("/");
  await page.getByRole("button", { name: "Give two APIs one picture" }).click();
  const dialog = page.getByRole("dialog", { name: "One picture, two APIs: what each was given" });
  await dialog.waitFor();
  await eventually(async () => assert.match(await dialog.getByRole("region", { name: "anthropic-messages", exact: true }).innerText(), /in the tool’s result/));
  await eventually(async () => assert.match(
    await dialog.getByRole("region", { name: "openai-chat", exact: true }).innerText(),
    /in a message after the tool’s results/,
  ));
  await waitForImages(context, dialog);
  await checkAccessibility(page, 2);
  await eventually(async () => assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false, "no overflow on a phone"));
  await page.keyboard.press("Escape");
  await answers(page).getByText("2/2").waitFor();
  await eventually(async () => assert.deepEqual([await userMessages(page).count(), await answers(page).count()], [1, 1]));
}

export async function the_first_load_transfers_at_most_85_kB(context) {
  const first = await context.visit("/settings");
  const page = await first.context().newPage();
  const sizes = await countBytes(page);
  await page.goto(new URL("/", first.url()).href);
  await page.locator(".example").nth(2).waitFor();
  await page.waitForLoadState("networkidle");
  const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  assert.ok(bytes > 20_000 && bytes <= 85_000, `${bytes} bytes: ${JSON.stringify([...sizes])}`);
}
