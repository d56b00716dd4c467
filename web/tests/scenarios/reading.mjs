// What is in view while a conversation grows: the answer to what was asked last, unless the reader went elsewhere.
import { answered, answers, ask, assert, atRest, box, idOf, questions, say } from "../doing.mjs";

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };
const LONG = Array.from({ length: 40 }, (_, at) => `Line ${at} of a long question, which fills the view.`).join("\n");

/** Whether the beginning of something is in view. */
const inView = (found) =>
  found.evaluate((one) => {
    const [shown, view] = [one.getBoundingClientRect(), document.querySelector(".talk").getBoundingClientRect()];
    return shown.top >= view.top - 1 && shown.top < view.bottom - 20;
  });

/** How the last answer is to be seen once everything has come to rest. */
async function lies(page) {
  await atRest(page);
  return inView(answers(page).last());
}

const SENT = ["hello", "/chart title=Sales values=[3,1,2]", "one\ntwo\nthree\nfour\nfive\nsix", "again", "/chart title=More values=[1,2,3]"];

async function fiveSends(scene, settings, send) {
  const page = await scene.visit("/", settings);
  await box(page).waitFor();
  const seen = [];
  for (const [at, words] of SENT.entries()) {
    await send(page, words);
    await answered(page, at + 1);
    seen.push(await lies(page));
  }
  assert.deepEqual(seen, SENT.map(() => true));
  return page;
}

export async function an_answer_in_one_piece_is_in_view_after_every_send(scene) {
  const page = await fiveSends(scene, {}, say);
  await answers(page).last().hover();
  await answers(page).last().getByRole("button", { name: "Answer again" }).click();
  await answered(page, 5);
  assert.equal(await lies(page), true, "answered again");
}

export async function on_a_phone_an_answer_in_one_piece_is_in_view_after_every_send(scene) {
  await fiveSends(scene, PHONE, async (page, words) => {
    await box(page).tap();
    await box(page).fill(words);
    await page.locator("button.send:enabled").tap();
  });
}

export async function the_first_answer_is_in_view_where_a_long_conversation_was_opened(scene) {
  const writer = await scene.visit("/");
  for (let at = 0; at < 8; at++) await ask(writer, at % 2 ? LONG : `/chart title=T${at} values=[1,2,3]`);
  const page = await scene.visit(`/c/${await idOf(writer)}`, { beside: writer });
  await answers(page).nth(7).waitFor();
  await say(page, "hello");
  await answered(page, 9);
  assert.equal(await lies(page), true);
}

export async function a_reader_who_scrolls_up_is_left_alone(scene) {
  const page = await scene.visit("/", { on: "spoken" });
  const lines = (name) => Array.from({ length: 60 }, (_, at) => `${name} ${at}`).join("\n\n");
  await ask(page, `Say: ${lines("first")}`);
  await say(page, `Say: ${lines("second")} ⏸ ${lines("third")}`);
  await answers(page).nth(1).getByText("second 59").waitFor();
  await answers(page).last().hover();
  await page.mouse.wheel(0, -3000);
  await atRest(page);
  const before = await page.locator(".talk").evaluate((one) => one.scrollTop);
  await scene.ask("go");
  await answered(page, 2);
  assert.ok(Math.abs((await page.locator(".talk").evaluate((one) => one.scrollTop)) - before) < 5);
  assert.equal(await inView(questions(page).last()), false);
}

export async function the_greeting_opens_at_its_beginning(scene) {
  for (const viewport of [{ width: 844, height: 390 }, { width: 320, height: 568 }, { width: 375, height: 667 }]) {
    const page = await scene.visit("/", { ...PHONE, viewport });
    await page.locator(".example").nth(2).waitFor();
    await atRest(page);
    assert.equal(await page.locator(".talk").evaluate((one) => one.scrollTop), 0, `${viewport.width}`);
    assert.equal(await page.getByRole("button", { name: "Go to the newest message" }).count(), 0);
  }
}
