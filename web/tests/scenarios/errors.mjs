// Errors, and what the page tells users to do about them.
import { waitForAnswer, answers, sendAndWait, assert, messageBox, conversationId, userMessages, send, SERVER_STOPPED_ERRORS, eventually } from "../actions.mjs";

// thorough
export async function without_the_token_the_server_explains_how_to_log_in(context) {
  const page = await context.visit("/");
  context.allow(/status of 401/, /favicon/);
  await page.context().clearCookies();
  await page.goto(context.input.sites.inspector.url);
  await page.getByRole("heading", { name: "Not signed in" }).waitFor();
  await page.getByText("showandtell token").waitFor();
}

// thorough
export async function an_expired_cookie_is_reported(context) {
  const page = await context.visit("/");
  context.allow(/status of 401/);
  await page.locator(".example").nth(2).waitFor();
  await page.waitForLoadState("networkidle");
  await page.context().clearCookies();
  await page.getByRole("button", { name: "Draw a chart" }).click();
  await page.getByRole("heading", { name: "You are signed out" }).waitFor();
  await page.getByText("showandtell token").waitFor();
}

export async function signing_out_here_leaves_other_browsers_and_signing_out_everywhere_does_not(context) {
  context.allow(/status of 401/);
  const pages = [];
  for (let browser = 0; browser < 3; browser++) pages.push(await context.visit("/settings", { on: "scratch" }));
  const [first, second, third] = pages;
  await first.getByRole("button", { name: "Sign out", exact: true }).click();
  await first.getByRole("heading", { name: "Signed out" }).waitFor();
  await second.reload();
  await second.getByRole("button", { name: "Sign out everywhere" }).click();
  await second.getByRole("heading", { name: "Signed out" }).waitFor();
  await third.reload();
  await third.getByRole("heading", { name: "Not signed in" }).waitFor();
}

// thorough
export async function an_unknown_conversation_is_reported(context) {
  context.allow(/status of 404/);
  const page = await context.visit("/c/conv_0123456789abcdefABCDEF");
  await page.getByText(/There is no such conversation, or it isn’t yours/).waitFor();
  await page.getByRole("button", { name: "Start a new conversation" }).click();
  await page.getByRole("heading", { name: "What shall we look at?" }).waitFor();
}

export async function a_provider_error_is_shown_and_can_be_retried(context) {
  const page = await context.visit("/", { on: "echo" });
  await send(page, "Fail: 400, then say all is well");
  await page.getByText(/The server is on fire/).first().waitFor();
  await page.getByRole("button", { name: /^(Try again|Answer again)$/ }).first().click();
  await answers(page).last().getByText("all is well").waitFor();
  await eventually(async () => assert.deepEqual([await userMessages(page).count(), await answers(page).count()], [1, 1]));
}

// thorough
export async function retries_for_a_busy_provider_are_shown(context) {
  const page = await context.visit("/", { on: "echo" });
  await send(page, "Fail: 529, then say all is well");
  await page.getByText(/asking again/i).waitFor();
  const answer = await waitForAnswer(page, 1);
  await eventually(async () => assert.match(await answer.innerText(), /all is well/));
  await eventually(async () => assert.equal(await page.getByText(/asking again/i).count(), 0));
}

export async function a_stream_resumes_after_being_offline(context) {
  context.allow(/ERR_INTERNET_DISCONNECTED/, /ERR_NETWORK_CHANGED/, /ERR_INCOMPLETE_CHUNKED_ENCODING/);
  const page = await context.visit("/", { on: "echo" });
  await send(page, "Say: one ⏸two");
  await answers(page).getByText("one").waitFor();
  await conversationId(page);
  await page.context().setOffline(true);
  await page.getByText(/You are offline|The connection is lost/).first().waitFor();
  await context.call("resume");
  await page.context().setOffline(false);
  const answer = await waitForAnswer(page, 1);
  await answer.getByText("one two").waitFor();
  await context.until("the notice is gone", async () => !(await page.getByText(/You are offline/).count()));
  await eventually(async () => assert.equal(await answers(page).count(), 1));
}

export async function two_messages_at_the_same_time_lose_no_text(context) {
  context.allow(/status of 409/);
  const page = await context.visit("/", { on: "echo" });
  await sendAndWait(page, "Say: hello");
  const path = new URL(page.url()).pathname;
  const other = await context.visit(path, { on: "echo" });
  await waitForAnswer(other, 1);
  await send(page, "Say: mine ⏸first");
  await answers(page).nth(1).getByText("mine").waitFor();
  await send(other, "Say: yours");
  await answers(other).nth(1).getByText("mine").waitFor();
  await context.until("the text is back in the box", async () => (await messageBox(other).inputValue()) === "Say: yours");
  await context.call("resume");
  await waitForAnswer(other, 2);
  const last = await sendAndWait(other, "Say: yours");
  await eventually(async () => assert.match(await last.innerText(), /yours/));
  await eventually(async () => assert.equal(await userMessages(other).count(), 3));
}

export async function an_approval_survives_a_server_restart(context) {
  context.allow(...SERVER_STOPPED_ERRORS);
  const page = await context.visit("/", { on: "process" });
  await send(page, "/send_money amount=7");
  const question = page.getByRole("group", { name: "May send_money run?" });
  await question.waitFor();
  await conversationId(page);
  await context.call("restart");
  await question.getByRole("button", { name: "Yes, run it" }).click();
  const answer = await waitForAnswer(page);
  await answer.getByText("done").waitFor();
  await eventually(async () => assert.equal(await answers(page).count(), 1));
}

// thorough
export async function a_conversation_that_failed_to_load_is_loaded_later(context) {
  context.allow(/status of 503/);
  const page = await context.visit("/");
  await sendAndWait(page, "hello");
  const path = `/api/conversations/${await conversationId(page)}`;
  await page.route(`**${path}?**`, (route) => route.fulfill({ status: 503, body: "" }));
  await page.reload();
  await page.getByRole("heading", { name: "This can’t be shown" }).waitFor();
  await page.unroute(`**${path}?**`);
  await answers(page).first().waitFor();
}
