// What goes wrong, and what the page says to do about it.
import { answered, answers, ask, assert, box, idOf, questions, say, SERVER_GONE } from "../doing.mjs";

export async function without_the_token_the_server_says_how_to_come_in(scene) {
  const page = await scene.visit("/");
  scene.allow(/status of 401/, /favicon/);
  await page.context().clearCookies();
  await page.goto(scene.given.sites.plain.url);
  await page.getByRole("heading", { name: "Not signed in" }).waitFor();
  await page.getByText("showandtell serve").waitFor();
}

export async function a_page_whose_cookie_ended_says_so(scene) {
  const page = await scene.visit("/");
  scene.allow(/status of 401/);
  await page.locator(".example").nth(2).waitFor();
  await page.waitForLoadState("networkidle");
  await page.context().clearCookies();
  await page.getByRole("button", { name: "Draw a chart" }).click();
  await page.getByRole("heading", { name: "You are signed out" }).waitFor();
  await page.getByText("showandtell serve").waitFor();
}

export async function an_unknown_conversation_is_said_to_be_none(scene) {
  scene.allow(/status of 404/);
  const page = await scene.visit("/c/conv_0123456789abcdefABCDEF");
  await page.getByText(/There is no such conversation, or it isn’t yours/).waitFor();
  await page.getByRole("button", { name: "Start a new conversation" }).click();
  await page.getByRole("heading", { name: "What shall we look at?" }).waitFor();
}

export async function a_provider_that_refuses_is_quoted_and_may_be_asked_again(scene) {
  const page = await scene.visit("/", { on: "spoken" });
  await say(page, "Fail: 400, then say all is well");
  await page.getByText(/The house is on fire/).first().waitFor();
  await page.getByRole("button", { name: /^(Try again|Answer again)$/ }).first().click();
  await answers(page).last().getByText("all is well").waitFor();
  assert.deepEqual([await questions(page).count(), await answers(page).count()], [1, 1]);
}

export async function a_provider_that_is_busy_is_asked_again_and_that_is_told(scene) {
  const page = await scene.visit("/", { on: "spoken" });
  await say(page, "Fail: 529, then say all is well");
  await page.getByText(/asking again/i).waitFor();
  const answer = await answered(page, 1);
  assert.match(await answer.innerText(), /all is well/);
  assert.equal(await page.getByText(/asking again/i).count(), 0);
}

export async function offline_the_page_says_so_and_goes_on_by_itself(scene) {
  scene.allow(/ERR_INTERNET_DISCONNECTED/, /ERR_NETWORK_CHANGED/, /ERR_INCOMPLETE_CHUNKED_ENCODING/);
  const page = await scene.visit("/", { on: "spoken" });
  await say(page, "Say: one ⏸two");
  await answers(page).getByText("one").waitFor();
  await idOf(page);
  await page.context().setOffline(true);
  await page.getByText(/You are offline|The connection is lost/).first().waitFor();
  await scene.ask("go");
  await page.context().setOffline(false);
  const answer = await answered(page, 1);
  await answer.getByText("one two").waitFor();
  await scene.until("the notice is gone", async () => !(await page.getByText(/You are offline/).count()));
  assert.equal(await answers(page).count(), 1);
}

export async function two_who_write_at_once_lose_no_word(scene) {
  scene.allow(/status of 409/);
  const page = await scene.visit("/", { on: "spoken" });
  await ask(page, "Say: hello");
  const path = new URL(page.url()).pathname;
  const other = await scene.visit(path, { on: "spoken" });
  await answered(other, 1);
  await say(page, "Say: mine ⏸first");
  await answers(page).nth(1).getByText("mine").waitFor();
  await say(other, "Say: yours");
  await answers(other).nth(1).getByText("mine").waitFor();
  await scene.until("the words are back", async () => (await box(other).inputValue()) === "Say: yours");
  await scene.ask("go");
  await answered(other, 2);
  const last = await ask(other, "Say: yours");
  assert.match(await last.innerText(), /yours/);
  assert.equal(await questions(other).count(), 3);
}

export async function a_server_that_begins_anew_still_waits_for_the_yes(scene) {
  scene.allow(...SERVER_GONE);
  const page = await scene.visit("/", { on: "program" });
  await say(page, "/send_money amount=7");
  const question = page.getByRole("group", { name: "May send_money run?" });
  await question.waitFor();
  await idOf(page);
  await scene.ask("restart");
  await question.getByRole("button", { name: "Yes, run it" }).click();
  const answer = await answered(page);
  await answer.getByText("done").waitFor();
  assert.equal(await answers(page).count(), 1);
}

export async function a_conversation_that_could_not_be_loaded_comes_by_itself(scene) {
  scene.allow(/status of 503/);
  const page = await scene.visit("/");
  await ask(page, "hello");
  const path = `/api/conversations/${await idOf(page)}`;
  await page.route(`**${path}`, (route) => route.fulfill({ status: 503, body: "" }));
  await page.reload();
  await page.getByRole("heading", { name: "This can’t be shown" }).waitFor();
  await page.unroute(`**${path}`);
  await answers(page).first().waitFor();
}
