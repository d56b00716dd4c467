// An answer while it is written: read anew, in two tabs, stopped; and what comes after it: again, edited, by another model.
import { answered, answers, ask, assert, box, idOf, questions, say } from "../doing.mjs";

const told = (page) => answers(page).last();

/** An answer that has said its first word, and waits. */
async function begun(scene, words = "Say: one ⏸two ⏸three") {
  const page = await scene.visit("/", { on: "spoken" });
  await say(page, words);
  await told(page).getByText("one").waitFor();
  await idOf(page);
  return page;
}

export async function a_reload_in_mid_stream_loses_nothing_and_doubles_nothing(scene) {
  const page = await begun(scene);
  await page.reload();
  await told(page).getByText("one").waitFor();
  await scene.ask("go");
  await told(page).getByText("one two").waitFor();
  await page.reload();
  await told(page).getByText("one two").waitFor();
  await scene.ask("go");
  const answer = await answered(page);
  assert.equal((await answer.locator(".prose").innerText()).trim(), "one two three");
  assert.deepEqual([await questions(page).count(), await answers(page).count()], [1, 1]);
}

export async function two_tabs_follow_one_answer(scene) {
  const page = await begun(scene);
  const other = await scene.visit(new URL(page.url()).pathname, { on: "spoken", beside: page });
  await told(other).getByText("one").waitFor();
  await scene.ask("go", { times: 2 });
  for (const each of [page, other]) {
    const answer = await answered(each);
    assert.equal((await answer.locator(".prose").innerText()).trim(), "one two three");
    assert.equal(await answers(each).count(), 1);
  }
}

export async function a_message_in_one_tab_appears_in_the_other(scene) {
  const page = await begun(scene, "Say: one");
  await answered(page);
  const other = await scene.visit(new URL(page.url()).pathname, { on: "spoken", beside: page });
  await answered(other);
  await say(page, "Say: again ⏸and on");
  await answers(other).nth(1).getByText("again").waitFor();
  await scene.ask("go");
  await answered(other, 2);
  assert.match(await told(other).innerText(), /again and on/);
}

export async function a_stopped_answer_keeps_what_was_said(scene) {
  const page = await begun(scene);
  await page.getByRole("button", { name: "Stop" }).click();
  const answer = await answered(page);
  await answer.getByText("Stopped.").waitFor();
  assert.match(await answer.innerText(), /one/);
  await page.reload();
  assert.match(await (await answered(page)).innerText(), /one[^]*Stopped\./);
}

export async function an_edited_message_begins_a_branch_and_the_old_one_stays(scene) {
  const page = await scene.visit("/", { on: "spoken" });
  await ask(page, "Say: apples");
  await questions(page).first().hover();
  await page.getByRole("button", { name: "Edit your message" }).click();
  await page.getByRole("textbox", { name: "Your message" }).fill("Say: pears");
  await page.keyboard.press("Enter");
  await told(page).getByText("pears").waitFor();
  await answered(page);
  assert.equal(await questions(page).count(), 1);
  await questions(page).getByText("2/2").waitFor();
  await page.getByRole("button", { name: "Previous branch" }).first().click();
  await told(page).getByText("apples").waitFor();
  await page.reload();
  await told(page).getByText("apples").waitFor();
  await questions(page).getByText("1/2").waitFor();
}

export async function an_answer_can_be_asked_for_again(scene) {
  const page = await scene.visit("/", { on: "spoken" });
  const answer = await ask(page, "Say: apples");
  await answer.getByRole("button", { name: "Answer again" }).click();
  await scene.until("the second answer is there", async () => {
    const there = await scene.get(page, `/api/conversations/${await idOf(page)}`);
    return !there.running && there.messages.length === 2;
  });
  await answered(page);
  await told(page).getByText("2/2").waitFor();
  await told(page).getByRole("button", { name: "Previous branch" }).click();
  await told(page).getByText("1/2").waitFor();
  assert.deepEqual([await questions(page).count(), await answers(page).count()], [1, 1]);
}

export async function another_model_goes_on_in_mid_conversation(scene) {
  const page = await scene.visit("/", { on: "spoken" });
  await ask(page, "Say: I am Claude");
  await page.locator(".bar .model").click();
  await page.getByRole("searchbox", { name: "Search models" }).fill("inspector");
  await page.locator(".model-row:enabled").first().click();
  const answer = await ask(page, "Hello");
  assert.match(await answer.innerText(), /not a language model/);
  await page.reload();
  await answered(page, 2);
  assert.match(await page.locator(".bar .model").innerText(), /inspector/i);
}

export async function thoughts_are_folded(scene) {
  const page = await scene.visit("/", { on: "spoken" });
  const answer = await ask(page, "Say: <think>hidden depths</think>the surface");
  assert.equal(await answer.getByText("hidden depths").isVisible(), false);
  await answer.getByText("Thoughts").click();
  await answer.getByText("hidden depths").waitFor();
}

export async function an_answer_is_copied_as_it_was_written(scene) {
  const page = await scene.visit("/", { on: "spoken", permissions: ["clipboard-read", "clipboard-write"] });
  const answer = await ask(page, "Say: **bold** and `code`");
  await answer.getByRole("button", { name: "Copy the answer" }).click();
  await answer.getByRole("button", { name: "Copied" }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "**bold** and `code`");
}

export async function a_draft_outlives_a_reload(scene) {
  const page = await scene.visit("/");
  await box(page).fill("not yet sent");
  await page.reload();
  assert.equal(await box(page).inputValue(), "not yet sent");
}

export async function a_long_answer_is_read_from_its_beginning(scene) {
  const page = await scene.visit("/", { on: "spoken" });
  await ask(page, "Say: hello");
  await ask(page, `Say: ${Array.from({ length: 90 }, (_, at) => `line ${at}`).join("\n\n")}`);
  const inView = (found) => found.evaluate((one) => {
    const [box, view] = [one.getBoundingClientRect(), document.querySelector(".talk").getBoundingClientRect()];
    return box.bottom > view.top && box.top < view.bottom;
  });
  assert.equal(await inView(told(page).getByText("line 0", { exact: true })), true);
  assert.equal(await inView(told(page).getByText("line 89", { exact: true })), false);
  await page.getByRole("button", { name: "Go to the newest message" }).click();
  assert.equal(await inView(told(page).getByText("line 89", { exact: true })), true);
}

export async function words_in_a_wide_table_stay_whole_and_each_language_begins_at_its_side(scene) {
  const page = await scene.visit("/", { on: "spoken", viewport: { width: 390, height: 844 } });
  const row = (word) => `|${Array.from({ length: 12 }, () => word).join("|")}|`;
  const answer = await ask(page, `Say: ${row("column")}\n${row("---")}\n${row("value")}\n\nhello\n\nمرحبا`);
  const rectOf = (found) => found.evaluate((one) => {
    const range = document.createRange();
    range.selectNodeContents(one);
    return { lines: range.getClientRects().length, left: range.getBoundingClientRect().left };
  });
  assert.equal((await rectOf(answer.getByRole("cell", { name: "value" }).first())).lines, 1);
  assert.ok((await rectOf(answer.getByText("مرحبا"))).left > (await rectOf(answer.getByText("hello"))).left + 100);
}

export async function an_answer_that_was_stopped_in_its_words_is_gone_on_with_by_words(scene) {
  const page = await begun(scene);
  await page.getByRole("button", { name: "Stop" }).click();
  await (await answered(page)).getByRole("button", { name: "Continue" }).click();
  await answered(page, 2);
  await questions(page).nth(1).getByText("Go on.").waitFor();
  await answers(page).first().getByText("Stopped.").waitFor();
  assert.equal(await page.getByRole("button", { name: "Continue" }).count(), 0);
}

export async function an_answer_that_is_whole_is_not_gone_on_with(scene) {
  const page = await scene.visit("/", { on: "spoken" });
  const answer = await ask(page, "Say: all of it");
  assert.equal(await answer.getByRole("button", { name: "Continue" }).count(), 0);
}
