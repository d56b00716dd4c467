// Tool calls: progress, errors, approvals, and the panel of what the model received.
import { waitForAnswer, answers, sendAndWait, assert, waitForScrollEnd, conversationId, send, eventually } from "../actions.mjs";

const question = (page) => page.getByRole("group", { name: "May send_money run?" });

async function waitForApproval(context) {
  const page = await context.visit("/");
  await send(page, "/send_money amount=50");
  await question(page).waitFor();
  await conversationId(page);
  return page;
}

// thorough
export async function an_approval_is_still_pending_after_a_reload(context) {
  const page = await waitForApproval(context);
  await eventually(async () => assert.match(await question(page).innerText(), /"amount": 50/));
  await page.reload();
  await question(page).getByRole("button", { name: "Yes, run it" }).click();
  await question(page).waitFor({ state: "detached" });
  const answer = await waitForAnswer(page);
  await answer.getByText("done").waitFor();
  await answer.locator("summary").first().click();
  await eventually(async () => assert.match(await answer.innerText(), /50 were sent/));
  await eventually(async () => assert.equal(await answers(page).count(), 1, "the answer continues in place"));
}

export async function a_declined_tool_never_runs(context) {
  const page = await waitForApproval(context);
  await question(page).getByRole("button", { name: "No", exact: true }).click();
  const answer = await waitForAnswer(page);
  await answer.getByText("declined").waitFor();
  await eventually(async () => assert.doesNotMatch(await answer.innerText(), /were sent/));
  await page.reload();
  await (await waitForAnswer(page)).getByText("declined").waitFor();
}

export async function an_approval_is_sent_once(context) {
  const page = await waitForApproval(context);
  const sent = [];
  await page.route("**/api/chat", (route) => {
    sent.push(route.request().postDataJSON());
    const chunks = [{ type: "start", messageId: sent[0].messages[0].id }, { type: "finish" }].map((chunk) => JSON.stringify(chunk));
    const body = [...chunks, "[DONE]"].map((data) => `data: ${data}\n\n`).join("");
    return route.fulfill({ status: 200, headers: { "content-type": "text/event-stream" }, body });
  });
  await question(page).getByRole("button", { name: "Yes, run it" }).click();
  await context.until("the approval is sent", () => sent.length > 0);
  await waitForScrollEnd(page);
  assert.equal(sent.length, 1);
}

export async function a_tool_shows_its_progress_and_its_result(context) {
  const page = await context.visit("/");
  await send(page, "/take_time");
  await page.getByText("a quarter is done").waitFor();
  await eventually(async () => assert.equal(await page.getByRole("progressbar", { name: "Progress of take_time" }).getAttribute("value"), "1"));
  const preview = page.getByRole("img", { name: "Preview of take_time" });
  await preview.waitFor();
  await eventually(async () => assert.equal(await preview.evaluate((image) => image.decode().then(() => image.naturalWidth)), 320));
  await context.call("release");
  const answer = await waitForAnswer(page, 1);
  await answer.locator("summary").first().click();
  await answer.locator(".tool-details").getByText("all is done").waitFor();
}

// thorough
export async function a_failed_tool_shows_its_error(context) {
  const page = await context.visit("/");
  const answer = await sendAndWait(page, "/break_down");
  await answer.getByText("failed", { exact: true }).waitFor();
  await answer.locator("summary").first().click();
  await answer.locator(".tool-error").getByText("the wheel came off").waitFor();
}

export async function the_panel_shows_what_the_model_received_and_why(context) {
  const page = await context.visit("/");
  const answer = await sendAndWait(page, "/gdrive_display_image name=red");
  await answer.getByRole("button", { name: /What the model saw/ }).click();
  const panel = page.getByRole("dialog", { name: "What the model saw" });
  await panel.getByText("red.png").first().waitFor();
  const text = await panel.innerText();
  for (const label of ["Step 1", "Step 2", "shown", "How we know:"]) assert.ok(text.includes(label), `${label} in ${text}`);
  await panel.getByRole("button", { name: /^Open what was sent: / }).click();
  await page.getByRole("dialog", { name: "Pictures of this conversation" }).locator(".viewer-picture").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await panel.waitFor({ state: "detached" });
}

// thorough
export async function a_new_message_ends_a_pending_approval(context) {
  const page = await waitForApproval(context);
  await answers(page).first().getByText("Waits for your decision above.").waitFor();
  await sendAndWait(page, "Hello");
  for (const state of ["sent", "reloaded"]) {
    if (state === "reloaded") await page.reload();
    await waitForAnswer(page, 2);
    await eventually(async () => assert.equal(await page.getByText(/Waits for/).count(), 0, state));
    await eventually(async () => assert.equal(await question(page).count(), 0, state));
    await eventually(async () => assert.equal(await answers(page).first().getByText("asks you").count(), 0, state));
    await answers(page).first().getByText("passed over, not run").waitFor();
  }
  await page.getByText("The conversation went on without a decision above.").waitFor();
}

// thorough
export async function an_answer_stopped_during_a_tool_continues_in_place(context) {
  const page = await context.visit("/");
  await send(page, "/take_time");
  await page.getByText("a quarter is done").waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  const answer = await waitForAnswer(page, 1);
  await context.call("release"); // the tool itself can't be stopped
  await answer.getByText("Stopped.").waitFor();
  await answer.getByRole("button", { name: "Continue" }).click();
  await answer.locator(".prose").waitFor();
  await waitForAnswer(page);
  for (const state of ["written", "reloaded"]) {
    if (state === "reloaded") await page.reload();
    await answers(page).locator(".prose").waitFor();
    await eventually(async () => assert.equal(await answers(page).count(), 1, state));
    await eventually(async () => assert.equal(await answers(page).getByRole("button", { name: "Continue" }).count(), 0, state));
  }
  const { messages } = await context.get(page, `/api/conversations/${await conversationId(page)}`);
  assert.deepEqual(messages.map((message) => message.metadata.status), [undefined, "complete"]);
}
