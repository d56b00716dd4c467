// Tool calls: how far they are, what went wrong, those that ask first, and what the model saw of their files.
import { answered, answers, ask, assert, atRest, idOf, say } from "../doing.mjs";

const question = (page) => page.getByRole("group", { name: "May send_money run?" });

async function asked(scene) {
  const page = await scene.visit("/");
  await say(page, "/send_money amount=50");
  await question(page).waitFor();
  await idOf(page);
  return page;
}

export async function a_tool_that_needs_a_yes_waits_for_it_over_a_reload(scene) {
  const page = await asked(scene);
  assert.match(await question(page).innerText(), /"amount": 50/);
  await page.reload();
  await question(page).getByRole("button", { name: "Yes, run it" }).click();
  await question(page).waitFor({ state: "detached" });
  const answer = await answered(page);
  await answer.getByText("done").waitFor();
  await answer.locator("summary").first().click();
  assert.match(await answer.innerText(), /50 were sent/);
  assert.equal(await answers(page).count(), 1, "the answer goes on where it waited");
}

export async function a_tool_that_is_declined_never_runs(scene) {
  const page = await asked(scene);
  await question(page).getByRole("button", { name: "No", exact: true }).click();
  const answer = await answered(page);
  await answer.getByText("declined").waitFor();
  assert.doesNotMatch(await answer.innerText(), /were sent/);
  await page.reload();
  await (await answered(page)).getByText("declined").waitFor();
}

export async function a_yes_is_sent_once_whatever_comes_back(scene) {
  const page = await asked(scene);
  const sent = [];
  await page.route("**/api/chat", (route) => {
    sent.push(route.request().postDataJSON());
    const chunks = [{ type: "start", messageId: sent[0].messages[0].id }, { type: "finish" }].map((one) => JSON.stringify(one));
    const body = [...chunks, "[DONE]"].map((one) => `data: ${one}\n\n`).join("");
    return route.fulfill({ status: 200, headers: { "content-type": "text/event-stream" }, body });
  });
  await question(page).getByRole("button", { name: "Yes, run it" }).click();
  await scene.until("it is sent", () => sent.length > 0);
  await atRest(page);
  assert.equal(sent.length, 1);
}

export async function a_tool_tells_how_far_it_is_and_shows_its_result(scene) {
  const page = await scene.visit("/");
  await say(page, "/take_time");
  await page.getByText("a quarter is done").waitFor();
  assert.equal(await page.getByRole("progressbar", { name: "Progress of take_time" }).getAttribute("value"), "1");
  await scene.ask("release");
  const answer = await answered(page, 1);
  await answer.locator("summary").first().click();
  await answer.locator(".tool-details").getByText("all is done").waitFor();
}

export async function a_tool_that_fails_says_why(scene) {
  const page = await scene.visit("/");
  const answer = await ask(page, "/break_down");
  await answer.getByText("failed", { exact: true }).waitFor();
  await answer.locator("summary").first().click();
  await answer.locator(".tool-error").getByText("the wheel came off").waitFor();
}

export async function the_panel_tells_what_the_model_was_given_and_why(scene) {
  const page = await scene.visit("/");
  const answer = await ask(page, "/gdrive_display_image name=red");
  await answer.getByRole("button", { name: /What the model saw/ }).click();
  const panel = page.getByRole("dialog", { name: "What the model saw" });
  await panel.getByText("red.png").first().waitFor();
  const text = await panel.innerText();
  for (const words of ["Step 1", "Step 2", "shown", "How we know:"]) assert.ok(text.includes(words), `${words} in ${text}`);
  await panel.getByRole("button", { name: /^Open what was sent: / }).click();
  await page.getByRole("dialog", { name: "Pictures of this conversation" }).locator(".viewer-picture").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await panel.waitFor({ state: "detached" });
}

export async function a_tool_waits_no_more_when_something_else_is_said(scene) {
  const page = await asked(scene);
  await answers(page).first().getByText("Waits for your decision above.").waitFor();
  await ask(page, "Hello");
  for (const look of ["said", "loaded"]) {
    if (look === "loaded") await page.reload();
    await answered(page, 2);
    assert.equal(await page.getByText(/Waits for/).count(), 0, look);
    assert.equal(await question(page).count(), 0, look);
    assert.equal(await answers(page).first().getByText("asks you").count(), 0, look);
  }
}

export async function an_answer_that_was_stopped_while_a_tool_ran_goes_on_in_its_place(scene) {
  const page = await scene.visit("/");
  await say(page, "/take_time");
  await page.getByText("a quarter is done").waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  const answer = await answered(page, 1);
  await scene.ask("release"); // the tool itself can't be stopped
  await answer.getByText("Stopped.").waitFor();
  await answer.getByRole("button", { name: "Continue" }).click();
  await answer.locator(".prose").waitFor();
  await answered(page);
  for (const look of ["written", "loaded"]) {
    if (look === "loaded") await page.reload();
    await answers(page).locator(".prose").waitFor();
    assert.equal(await answers(page).count(), 1, look);
    assert.equal(await answers(page).getByRole("button", { name: "Continue" }).count(), 0, look);
  }
  const { messages } = await scene.get(page, `/api/conversations/${await idOf(page)}`);
  assert.deepEqual(messages.map((one) => one.metadata.status), [undefined, "complete"]);
}
