// A conversation that another user shared: readers get no button that would fail.
import { waitForAnswer, answers, sendAndWait, assert, conversationId, userMessages, send, eventually } from "../actions.mjs";

const WRITE_BUTTONS = /^(Edit your message|Answer again|Continue|Yes, run it|No|Previous branch|Next branch|Delete .*|Stop|Send)$/;

/** Reloads the conversation as a user with `right` sees it. */
async function reloadWithRight(context, page, right) {
  await page.route(`**/api/conversations/${await conversationId(page)}?**`, async (route) => {
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

export async function readers_get_no_buttons_that_write_and_writers_none_that_delete(context) {
  const page = await startConversation(context);
  const count = () => page.getByRole("main").getByRole("button", { name: WRITE_BUTTONS }).count();
  await context.until("the owner's buttons are there", async () => (await count()) >= 8);
  await reloadWithRight(context, page, "writer");
  await page.getByRole("group", { name: "May send_money run?" }).waitFor();
  await page.getByRole("button", { name: "Edit your message" }).first().waitFor();
  await eventually(async () => assert.equal(await page.getByRole("button", { name: "Delete red.png" }).count(), 0));
  await reloadWithRight(context, page, "reader");
  await page.getByText("This conversation was shared with you to read.").waitFor();
  await page.getByText("Waits for a decision.").waitFor();
  await eventually(async () => assert.equal(await count(), 0));
  await eventually(async () => assert.equal(await page.getByRole("button", { name: /write it in your message/ }).count(), 0));
  await eventually(async () => assert.equal(await page.locator(".bar .model").count(), 0));
  await answers(page).first().getByRole("button", { name: "Copy the answer" }).waitFor();
  await answers(page).first().getByRole("button", { name: /What the model saw/ }).waitFor();
}

/** A browser of a person: on this site, a bearer token is the account's id. */
const as = (id) => ({ on: "accounts", extraHTTPHeaders: { authorization: `Bearer ${id}` } });

async function shareWith(page, name, access) {
  await page.getByRole("textbox", { name: "Name or account id" }).fill(name);
  await page.getByRole("combobox", { name: "Access" }).selectOption(access);
  await page.getByRole("dialog").getByRole("button", { name: "Share", exact: true }).click();
}

export async function people_share_a_conversation_and_see_who_wrote_what(context) {
  const [ann, bob] = [await context.visit("/", as("ann")), await context.visit("/", as("bob"))];
  await sendAndWait(ann, "Hello from Ann");
  await ann.getByRole("button", { name: "Share", exact: true }).click();
  await ann.getByText("Only you can see it.").waitFor();
  context.allow(/404/);
  await shareWith(ann, "Nobody", "reader");
  await ann.getByRole("alert").getByText("nobody who has signed in here").waitFor();
  await shareWith(ann, "bob", "writer");
  await ann.getByRole("list", { name: "People with access" }).getByText("Bob").waitFor();
  await eventually(async () => assert.equal(await ann.getByRole("alert").count(), 0));
  await bob.reload();
  await bob.getByRole("region", { name: "Shared with you" }).getByRole("link", { name: "Hello from Ann" }).click();
  await bob.getByRole("heading", { name: "Ann", exact: true }).waitFor();
  await sendAndWait(bob, "Hello from Bob");
  await ann.reload();
  await ann.getByRole("heading", { name: "Bob", exact: true }).waitFor();
  await eventually(async () => assert.deepEqual(await ann.locator(".question-author").allTextContents(), ["Bob"]));
  await ann.getByRole("button", { name: "Share", exact: true }).click();
  await ann.getByRole("button", { name: "Stop sharing with Bob" }).click();
  await ann.getByText("Only you can see it.").waitFor();
}

// thorough
export async function a_reader_leaves_a_shared_conversation(context) {
  const [carl, dora] = [await context.visit("/", as("carl")), await context.visit("/", as("dora"))];
  await sendAndWait(carl, "Hello from Carl");
  await carl.getByRole("button", { name: "Share", exact: true }).click();
  await shareWith(carl, "Dora", "reader");
  await carl.getByRole("button", { name: "Stop sharing with Dora" }).waitFor();
  await dora.reload();
  await dora.getByRole("region", { name: "Shared with you" }).getByRole("link").click();
  await dora.getByRole("button", { name: "Shared by Carl" }).click();
  await dora.getByText("You may read it.").waitFor();
  await dora.getByRole("button", { name: "Leave" }).click();
  await dora.getByRole("region", { name: "Shared with you" }).waitFor({ state: "detached" });
}
