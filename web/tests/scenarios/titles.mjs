// Titles by the model, for users who want them.
import { checkAccessibility, PHONE } from "../accessibility_check.mjs";
import { assert, conversationId, send, sendAndWait, eventually } from "../actions.mjs";

const as = (id, more = {}) => ({ on: "accounts", extraHTTPHeaders: { authorization: `Bearer ${id}` }, ...more });
const MODEL = "anthropic:claude-sonnet-4-5";

/** Opens the settings of a user whose model is the echo. */
async function openSettings(context, user, more) {
  const page = await context.visit("/settings", as(user, more));
  await page.evaluate(async (model) => {
    const headers = { "content-type": "application/json" };
    await fetch("/api/settings", { method: "PATCH", headers, body: JSON.stringify({ model }) });
  }, MODEL);
  await page.reload();
  return page;
}

const rowOf = (page, name) => page.locator(".side .row").getByRole("link", { name, exact: true });

// thorough
export async function a_new_conversation_gets_its_title_from_the_model(context) {
  const page = await openSettings(context, "tim");
  const choice = page.getByRole("checkbox", { name: "Let the model name new conversations" });
  await context.until("the settings are loaded", () => choice.isEnabled());
  await eventually(async () => assert.equal(await choice.isChecked(), false));
  await choice.focus();
  await page.keyboard.press("Space");
  await context.until("the choice is stored", async () => (await context.get(page, "/api/settings")).titles === true);
  const other = await context.visit("/matrix", { beside: page, on: "accounts" });
  await page.getByRole("link", { name: "New conversation" }).click();
  await sendAndWait(page, "Say: invoices");
  await rowOf(page, "About invoices").waitFor();
  await page.getByRole("heading", { name: "About invoices", exact: true }).waitFor();
  await eventually(async () => assert.equal(await page.title(), "About invoices – Show & Tell"));
  await rowOf(other, "About invoices").waitFor();
  await sendAndWait(page, "Say: letters");
  await eventually(async () => assert.equal(await page.title(), "About invoices – Show & Tell"));
}

// thorough
export async function a_title_comes_also_while_another_conversation_is_shown(context) {
  const page = await openSettings(context, "tom");
  await page.getByRole("checkbox", { name: "Let the model name new conversations" }).check();
  await page.getByRole("link", { name: "New conversation" }).click();
  await send(page, "Say: one⏸ invoices");
  await conversationId(page);
  await page.getByRole("link", { name: "New conversation" }).click();
  await page.getByRole("heading", { name: "What shall we look at?" }).waitFor();
  await context.call("resume");
  await rowOf(page, "About invoices").waitFor();
}

// thorough
export async function the_choices_of_titles_and_notifications_are_accessible_in_german(context) {
  const page = await openSettings(context, "tia", { locale: "de-DE" });
  await page.getByRole("heading", { name: "Titel und Benachrichtigungen" }).waitFor();
  await checkAccessibility(page, context.input.displays ?? 2);
  await page.setViewportSize(PHONE);
  await context.until("the page fits", () => page.evaluate((width) => document.documentElement.scrollWidth === width, PHONE.width));
}
