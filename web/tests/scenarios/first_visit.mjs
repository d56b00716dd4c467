// The greeting, and its three examples, which need no key.
import { gzipSync } from "node:zlib";
import { answered, answers, assert, drawn, questions } from "../doing.mjs";

async function start(scene, title) {
  const page = await scene.visit("/");
  await page.getByRole("button", { name: title }).click();
  const answer = await answered(page, 1);
  assert.equal(await questions(page).count(), 1);
  return { page, answer };
}

export async function the_first_visit_offers_three_examples(scene) {
  const page = await scene.visit("/");
  await page.getByRole("heading", { name: "What shall we look at?" }).waitFor();
  await page.locator(".example").nth(2).waitFor();
  assert.equal(await page.locator(".example").count(), 3);
  assert.equal(new URL(page.url()).search, "", "the token doesn't stay in the address");
}

export async function the_example_of_a_chart_shows_a_picture_that_a_tool_drew(scene) {
  const { page, answer } = await start(scene, "Draw a chart");
  await drawn(scene, answer);
  const figure = answer.getByRole("figure", { name: /^image 1: / });
  assert.match(await figure.innerText(), /tool chart/);
  assert.match(await answer.innerText(), /done/);
  assert.equal(await answers(page).count(), 1);
}

export async function the_example_of_an_invoice_is_answered_from_its_text(scene) {
  const { page, answer } = await start(scene, "Read an invoice");
  await questions(page).getByRole("figure", { name: "document 1: invoice.pdf" }).waitFor();
  assert.match(await answer.innerText(), /total/i);
}

export async function the_example_of_two_pictures_compares_them(scene) {
  const { page, answer } = await start(scene, "Compare two pictures");
  await drawn(scene, questions(page));
  const text = await answer.innerText();
  assert.match(text, /image 1/);
  assert.match(text, /image 2/);
}

export async function the_page_starts_with_at_most_80_kB_of_scripts(scene) {
  const first = await scene.visit("/settings");
  const page = await first.context().newPage();
  const scripts = [];
  page.on("request", (request) => request.resourceType() === "script" && scripts.push(request.url()));
  await page.goto(new URL("/", first.url()).href);
  await page.locator(".example").nth(2).waitFor();
  const answers = await Promise.all(scripts.map((one) => page.request.get(one)));
  const bodies = await Promise.all(answers.map((one) => one.body()));
  const bytes = bodies.reduce((sum, body) => sum + gzipSync(body, { level: 9 }).length, 0);
  assert.ok(bytes > 20_000 && bytes <= 80_000, `${bytes} bytes of ${scripts}`);
}
