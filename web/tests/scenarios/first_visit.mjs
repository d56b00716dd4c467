// The start page and its three examples, which need no API key.
import { waitForAnswer, answers, assert, waitForImages, userMessages } from "../actions.mjs";
import { countBytes } from "../bytes.mjs";

async function openExample(context, title) {
  const page = await context.visit("/");
  await page.getByRole("button", { name: title }).click();
  const answer = await waitForAnswer(page, 1);
  assert.equal(await userMessages(page).count(), 1);
  return { page, answer };
}

export async function the_first_visit_shows_three_examples(context) {
  const page = await context.visit("/");
  await page.getByRole("heading", { name: "What shall we look at?" }).waitFor();
  await page.locator(".example").nth(2).waitFor();
  assert.equal(await page.locator(".example").count(), 3);
  assert.equal(new URL(page.url()).search, "", "the token doesn't stay in the address");
}

export async function the_example_of_a_chart_shows_a_picture_that_a_tool_drew(context) {
  const { page, answer } = await openExample(context, "Draw a chart");
  await waitForImages(context, answer);
  const figure = answer.getByRole("figure", { name: /^image 1: / });
  assert.match(await figure.innerText(), /tool chart/);
  assert.match(await answer.innerText(), /done/);
  assert.equal(await answers(page).count(), 1);
}

export async function the_example_of_an_invoice_is_answered_from_its_text(context) {
  const { page, answer } = await openExample(context, "Read an invoice");
  await userMessages(page).getByRole("figure", { name: "document 1: invoice.pdf" }).waitFor();
  assert.match(await answer.innerText(), /total/i);
}

export async function the_example_of_two_pictures_compares_them(context) {
  const { page, answer } = await openExample(context, "Compare two pictures");
  await waitForImages(context, userMessages(page));
  const text = await answer.innerText();
  assert.match(text, /image 1/);
  assert.match(text, /image 2/);
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
