// Messages, drafts and settings survive lost connections, failed requests, reloads and navigation.
import { waitForAnswer, answers, sendAndWait, assert, messageBox, waitForImages, conversationId, userMessages, send, eventually } from "../actions.mjs";
import { attach, imageFile, textFile, tray } from "../attachments.mjs";

const sidebar = (page) => page.getByRole("navigation", { name: "Conversations" });
const instructions = (page) => page.getByRole("textbox", { name: "Instructions" });
const errorResponse = (status, text) => ({
  status,
  contentType: "application/json",
  body: JSON.stringify({ error: { kind: "Refused", text } }),
});

/** Changes settings through the API. */
async function saveSettings(page, changes) {
  const { origin } = new URL(page.url());
  const response = await page.request.patch(`${origin}/api/settings`, { data: changes, headers: { origin } });
  assert.equal(response.status(), 200);
}

// thorough
export async function saving_the_theme_keeps_other_settings(context) {
  const page = await context.visit("/", { on: "scratch" });
  await saveSettings(page, { instructions: "", theme: "light" });
  await page.goto(new URL("/settings", page.url()).href);
  await context.until("the settings are loaded", () => instructions(page).isEnabled()); // the theme is also in localStorage
  await eventually(async () => assert.equal(await page.getByRole("radio", { name: "Light" }).isChecked(), true));
  await saveSettings(page, { instructions: "Answer in French." });
  await page.getByRole("radio", { name: "Dark" }).check(); // this page hasn't loaded the new instructions
  await context.until("the theme is saved", async () => (await context.get(page, "/api/settings")).theme === "dark");
  await eventually(async () => assert.equal((await context.get(page, "/api/settings")).instructions, "Answer in French."));
  await context.until("the new instructions are shown", async () => (await instructions(page).inputValue()) === "Answer in French.");
  await saveSettings(page, { instructions: "", theme: "system" });
}

export async function settings_that_failed_to_load_are_retried_and_not_overwritten(context) {
  context.allow(/status of 503/);
  const page = await context.visit("/", { on: "scratch" });
  await saveSettings(page, { instructions: "Answer in French." });
  let unavailable = true;
  for (const path of ["**/api/settings", "**/api/models"])
    await page.route(path, (route) => (unavailable ? route.fulfill(errorResponse(503, "The database is away.")) : route.continue()));
  await page.goto(new URL("/settings", page.url()).href);
  await page.getByText("The database is away.").first().waitFor();
  await eventually(async () => assert.equal(await instructions(page).isEditable(), false, "settings that are not loaded can't be edited"));
  unavailable = false;
  await context.until("the settings are loaded", async () => (await instructions(page).inputValue()) === "Answer in French.");
  await eventually(async () => assert.equal(await instructions(page).isEditable(), true));
  await page.locator(".settings .model").click();
  await page.locator(".model-row:enabled").first().waitFor();
  await saveSettings(page, { instructions: "" });
}

export async function an_offline_message_survives_opening_another_conversation(context) {
  context.allow(/ERR_INTERNET_DISCONNECTED/, /ERR_NETWORK_CHANGED/);
  const page = await context.visit("/", { on: "scratch" });
  await sendAndWait(page, "A conversation to come back to");
  await conversationId(page);
  await attach(page, textFile("kept.txt", "a file that must not be lost"));
  await page.context().setOffline(true);
  await send(page, "A long message that must not be lost");
  await page.getByText(/You are offline/).waitFor();
  await context.until("the message is on the page", async () => (await userMessages(page).count()) === 2);
  await sidebar(page).getByRole("link", { name: "New conversation" }).click();
  await page.getByRole("heading", { name: "What shall we look at?" }).waitFor();
  await eventually(async () => assert.equal(await messageBox(page).inputValue(), "", "the message belongs to the other conversation"));
  await page.context().setOffline(false);
  await sidebar(page).getByRole("link", { name: /come back to/ }).first().click();
  await context.until("the message is back in the box", async () => (await messageBox(page).inputValue()) === "A long message that must not be lost");
  await tray(page).getByText("kept.txt").waitFor();
  await page.locator("button.send:enabled").click();
  await waitForAnswer(page, 2);
  await userMessages(page).getByRole("figure", { name: "text 1: kept.txt" }).waitFor();
}

// thorough
export async function pictures_that_failed_offline_come_when_the_browser_is_back(context) {
  context.allow(/ERR_INTERNET_DISCONNECTED/, /ERR_NETWORK_CHANGED/, /ERR_FAILED/);
  const page = await context.visit("/");
  await attach(page, imageFile("one.png"), imageFile("two.png"));
  await sendAndWait(page, "Which is brighter?");
  const isPicture = /\/api\/attachments\/[^/]+\/(thumbnail|content)/;
  await page.route(isPicture, (route) => route.abort());
  await page.reload();
  await userMessages(page).getByText("This image can't be shown here.").first().waitFor();
  await page.unroute(isPicture);
  await page.context().setOffline(true);
  await page.getByText(/You are offline/).waitFor();
  await page.context().setOffline(false);
  await waitForImages(context, userMessages(page));
}

export async function an_offline_message_survives_a_reload(context) {
  context.allow(/ERR_FAILED/);
  const page = await context.visit("/", { on: "scratch" });
  await page.locator(".example").first().waitFor();
  await page.route("**/api/chat", (route) => route.abort());
  await page.route("**/api/me", (route) => route.abort());
  await send(page, "Still here after a reload");
  await page.getByText(/The connection is lost/).first().waitFor();
  await page.unroute("**/api/me");
  await page.reload();
  await context.until("the message is back in the box", async () => (await messageBox(page).inputValue()) === "Still here after a reload");
}

// thorough
export async function a_message_arrives_after_its_conversation_was_left(context) {
  const page = await context.visit("/", { on: "scratch" });
  await page.locator(".example").first().waitFor();
  let request = null;
  await page.route("**/api/chat", (route) => void (request = route));
  await send(page, "Sent, then left at once");
  await context.until("the message is being sent", () => request !== null);
  await sidebar(page).getByRole("link", { name: "Settings" }).click();
  await instructions(page).waitFor();
  await sidebar(page).getByRole("link", { name: "New conversation" }).click();
  await request.continue();
  await sidebar(page).getByText("Sent, then left at once").first().waitFor();
  assert.equal(new URL(page.url()).pathname, "/", "another new conversation keeps its address");
  await eventually(async () => assert.equal(await messageBox(page).inputValue(), "", "a message that arrived is not restored"));
}

export async function a_message_refused_after_its_conversation_was_left_is_restored(context) {
  context.allow(/status of 429/);
  const page = await context.visit("/", { on: "scratch" });
  await page.locator(".example").first().waitFor();
  let request = null;
  await page.route("**/api/chat", (route) => void (request = route));
  await send(page, "Refused while nobody looked");
  await context.until("the message is being sent", () => request !== null);
  await sidebar(page).getByRole("link", { name: "Settings" }).click();
  await instructions(page).waitFor();
  await sidebar(page).getByRole("link", { name: "New conversation" }).click();
  await request.fulfill(errorResponse(429, "Too many requests."));
  await context.until("the message is back in the box", async () => (await messageBox(page).inputValue()) === "Refused while nobody looked");
}

export async function a_message_refused_after_a_reconnect_is_restored_with_the_error(context) {
  context.allow(/ERR_FAILED/, /status of 429/);
  const page = await context.visit("/", { on: "scratch" });
  await page.locator(".example").first().waitFor();
  await page.route("**/api/chat", (route) => route.abort());
  await page.route("**/api/me", (route) => route.fulfill(errorResponse(429, "Too many requests: wait a minute.")));
  await send(page, "Not sent, and not lost");
  await page.getByRole("alert").getByText("Too many requests: wait a minute.").waitFor();
  await page.getByText("What you wrote is back in the box.").waitFor();
  await eventually(async () => assert.equal(await messageBox(page).inputValue(), "Not sent, and not lost"));
  await eventually(async () => assert.equal(await userMessages(page).count(), 0));
  await eventually(async () => assert.equal(await page.getByText(/The connection is lost/).count(), 0));
}

// thorough
export async function a_script_that_fails_to_load_shows_an_error_and_a_reload_button(context) {
  context.allow(/ERR_FAILED/);
  const page = await context.visit("/", { on: "scratch" });
  await messageBox(page).fill("a draft");
  await page.route(/assets\/(SettingsPage|matrix|ModelList)-/, (route) => route.abort());
  const loadError = page.getByRole("alert").getByText(/This part of the page could not be loaded/);
  for (const name of ["Settings", "What models see"]) {
    await sidebar(page).getByRole("link", { name }).click();
    await loadError.waitFor();
  }
  await sidebar(page).getByRole("link", { name: "New conversation" }).click();
  await eventually(async () => assert.equal(await messageBox(page).inputValue(), "a draft"));
  await page.locator("main .model").click();
  await loadError.waitFor();
  await page.keyboard.press("Escape");
  await sidebar(page).getByRole("link", { name: "Settings" }).click();
  await loadError.waitFor();
  await page.unrouteAll();
  await page.getByRole("button", { name: "Reload the page" }).click();
  await instructions(page).waitFor();
  await sidebar(page).getByRole("link", { name: "New conversation" }).click();
  await eventually(async () => assert.equal(await messageBox(page).inputValue(), "a draft"));
}

// thorough
export async function a_script_that_failed_to_load_is_loaded_after_a_reconnect(context) {
  context.allow(/ERR_INTERNET_DISCONNECTED/, /ERR_NETWORK_CHANGED/);
  const page = await context.visit("/", { on: "scratch" });
  await messageBox(page).waitFor();
  await page.context().setOffline(true);
  await sidebar(page).getByRole("link", { name: "What models see" }).click();
  await page.getByRole("status").getByText(/loaded as soon as the connection is back/).waitFor();
  await page.context().setOffline(false);
  const families = page.getByText(/families of models$/);
  const reload = page.getByRole("button", { name: "Reload the page" });
  await families.or(reload).first().waitFor();
  // Older browsers never retry the import of a module that failed: there the user has to reload the page.
  if (await reload.count()) await reload.click();
  await families.waitFor();
  await eventually(async () => assert.equal(await page.locator(".matrix").evaluate((element) => getComputedStyle(element).overflow), "auto", "the styles are loaded, too"));
}

// thorough
export async function a_malformed_url_shows_not_found(context) {
  const page = await context.visit("/", { on: "scratch" });
  await messageBox(page).waitFor();
  await page.goto(`${context.input.sites.scratch.url}/c/%E0%A4%A`);
  await page.getByText(/There is no page at this address/).waitFor();
}

export async function unsaved_edits_survive_navigation(context) {
  const page = await context.visit("/settings", { on: "scratch" });
  await page.locator("textarea:enabled").waitFor();
  const before = await instructions(page).inputValue();
  await instructions(page).fill("Answer in verse.");
  await sidebar(page).getByRole("link", { name: "What models see" }).click();
  await page.getByText(/families of models$/).waitFor();
  await sidebar(page).getByRole("link", { name: "Settings" }).click();
  await eventually(async () => assert.equal(await instructions(page).inputValue(), "Answer in verse."));
  await instructions(page).fill(before);
  await sidebar(page).getByRole("link", { name: "New conversation" }).click();
  await sendAndWait(page, "hello");
  const first = await conversationId(page);
  await page.getByRole("button", { name: "Edit your message" }).click();
  const edit = page.getByRole("textbox", { name: "Your message" });
  await edit.fill("hello again");
  await sidebar(page).getByRole("link", { name: "New conversation" }).click();
  await page.locator(".example").first().waitFor();
  await sidebar(page).locator(`a[href="/c/${first}"]`).click();
  await edit.waitFor();
  await eventually(async () => assert.equal(await edit.inputValue(), "hello again"));
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.reload();
  await answers(page).first().waitFor();
  await eventually(async () => assert.equal(await edit.count(), 0));
}
