// A conversation that another user shared: readers get no button that would fail.
import { waitForAnswer, answers, sendAndWait, assert, conversationId, userMessages, send } from "../actions.mjs";

const WRITE_BUTTONS = /^(Edit your message|Answer again|Continue|Yes, run it|No|Previous branch|Next branch|Delete .*|Stop|Send)$/;

/** Reloads the conversation as a user with `right` sees it. */
async function reloadWithRight(context, page, right) {
  await page.route(`**/api/conversations/${await conversationId(page)}`, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), right } });
  });
  await page.reload();
  await answers(page).last().locator(".message-actions").waitFor();
}

async function startConversation(context) {
  const page = await context.visit("/");
  await sendAndWait(page, "Hello");
  await userMessages(page).first().hover();
  await page.getByRole("button", { name: "Edit your message" }).click();
  await page.getByRole("textbox", { name: "Your message" }).fill("/gdrive_display_image name=red");
  await page.keyboard.press("Enter");
  await answers(page).last().getByRole("figure").waitFor();
  await waitForAnswer(page);
  await send(page, "/send_money amount=50");
  await page.getByRole("group", { name: "May send_money run?" }).waitFor();
  return page;
}

export async function readers_get_no_buttons_that_write(context) {
  const page = await startConversation(context);
  const count = () => page.getByRole("main").getByRole("button", { name: WRITE_BUTTONS }).count();
  assert.ok((await count()) >= 8);
  await reloadWithRight(context, page, "reader");
  await page.getByText("This conversation was shared with you to read.").waitFor();
  await page.getByText("Waits for a decision.").waitFor();
  assert.equal(await count(), 0);
  assert.equal(await page.getByRole("button", { name: /write it in your message/ }).count(), 0);
  assert.equal(await page.locator(".bar .model").count(), 0);
  await answers(page).first().getByRole("button", { name: "Copy the answer" }).waitFor();
  await answers(page).first().getByRole("button", { name: /What the model saw/ }).waitFor();
}

export async function writers_cannot_delete_files(context) {
  const page = await startConversation(context);
  await reloadWithRight(context, page, "writer");
  await page.getByRole("group", { name: "May send_money run?" }).waitFor();
  await page.getByRole("button", { name: "Edit your message" }).first().waitFor();
  assert.equal(await page.getByRole("button", { name: "Delete red.png" }).count(), 0);
}
