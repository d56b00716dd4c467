// Settings of one conversation, presets of them, and favourite models.
import { checkAccessibility, PHONE } from "../accessibility_check.mjs";
import { assert, conversationId, leaveDialogs, sendAndWait, textsOf, eventually } from "../actions.mjs";

const as = (id, more = {}) => ({ on: "accounts", extraHTTPHeaders: { authorization: `Bearer ${id}` }, ...more });
const opener = (page) => page.locator(".bar").getByRole("button", { name: "Settings of this conversation" });
const panel = (page) => page.getByRole("dialog", { name: "Settings of this conversation" });
const field = (page, name) => panel(page).getByLabel(name);
const note = (page) => page.locator(".own-note");
const save = (page, name = "Save") => panel(page).locator(".own-actions").getByRole("button", { name, exact: true }).click();

/** Opens the panel, and waits until what can be chosen is loaded. */
async function open(page) {
  await opener(page).click();
  await panel(page).getByRole("group", { name: "Tools" }).waitFor();
}

async function startConversation(context, user, more) {
  const page = await context.visit("/", as(user, more));
  await sendAndWait(page, "Hello");
  return [page, `/api/conversations/${await conversationId(page)}/settings`];
}

async function keepPreset(page, name) {
  await panel(page).getByRole("textbox", { name: "Name of a new preset" }).fill(name);
  await page.keyboard.press("Enter");
  await panel(page).getByText(`${name} is kept.`).waitFor();
}

// thorough
export async function settings_of_a_conversation_are_stored_and_shown_above_the_composer(context) {
  const [page, path] = await startConversation(context, "uma");
  await eventually(async () => assert.equal(await note(page).count(), 0));
  await open(page);
  await field(page, "Instructions").fill("Answer in rhymes.");
  await field(page, "Temperature").fill("0.25");
  for (const tool of ["chart", "view_file"]) await panel(page).getByRole("checkbox", { name: tool }).uncheck();
  await save(page);
  await panel(page).waitFor({ state: "hidden" });
  await note(page).getByText("Here only: own instructions, temperature 0.25, 2 tools off").waitFor();
  const stored = await context.get(page, path);
  assert.deepEqual([stored.instructions, stored.temperature, stored.revision], ["Answer in rhymes.", 0.25, 1]);
  assert.ok(stored.tools.length > 0 && !stored.tools.includes("chart"));
  await leaveDialogs(page);
  await page.reload();
  await note(page).getByRole("button", { name: /2 tools off/ }).click();
  await context.until("the panel shows what is stored", async () => (await field(page, "Temperature").inputValue()) === "0.25");
  await eventually(async () => assert.equal(await panel(page).getByRole("checkbox", { name: "chart" }).isChecked(), false));
  await panel(page).getByRole("button", { name: "Clear all" }).click();
  await save(page);
  await note(page).waitFor({ state: "detached" });
  await eventually(async () => assert.equal((await context.get(page, path)).tools, null));
}

// thorough
export async function a_new_conversation_gets_its_settings_with_its_first_message_by_keyboard_alone(context) {
  const page = await context.visit("/", as("kim"));
  await opener(page).focus();
  await page.keyboard.press("Enter");
  await panel(page).getByRole("group", { name: "Tools" }).waitFor();
  await field(page, "Temperature").focus();
  await page.keyboard.type("9");
  await eventually(async () => assert.equal(await field(page, "Temperature").getAttribute("aria-invalid"), "true"));
  await page.keyboard.press("Backspace");
  await page.keyboard.type("0.5");
  await panel(page).getByRole("checkbox", { name: "chart" }).focus();
  await page.keyboard.press("Space");
  await page.keyboard.press("Enter");
  await note(page).getByText("Here only: temperature 0.5, 1 tool off").waitFor();
  await eventually(async () => assert.ok(await opener(page).evaluate((button) => button === document.activeElement)));
  await sendAndWait(page, "Hello");
  const stored = await context.get(page, `/api/conversations/${await conversationId(page)}/settings`);
  assert.deepEqual([stored.temperature, stored.tools.includes("chart")], [0.5, false]);
  await page.keyboard.press("Escape");
  await note(page).getByText("1 tool off").waitFor();
}

// thorough
export async function the_model_of_a_conversation_is_the_one_in_the_picker(context) {
  const [page] = await startConversation(context, "mia");
  await open(page);
  await panel(page).getByRole("button", { name: /^Model:/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: /^Inspector \(gemini\)/ }).click();
  await panel(page).getByText("Always this one").waitFor();
  await save(page);
  await page.locator(".bar").getByRole("button", { name: /^Model: ?Inspector ?gemini/ }).waitFor();
  await sendAndWait(page, "Hello again");
  await leaveDialogs(page);
  await page.reload();
  await note(page).getByText("Here only: Inspector (gemini)").waitFor();
  await page.locator(".bar").getByRole("button", { name: /^Model: ?Inspector ?gemini/ }).waitFor();
}

// thorough
export async function presets_are_kept_used_renamed_and_deleted(context) {
  const [page] = await startConversation(context, "pam");
  await open(page);
  await field(page, "Instructions").fill("Answer in rhymes.");
  await keepPreset(page, "Poet");
  await save(page);
  await page.getByRole("link", { name: "New conversation" }).click();
  await note(page).waitFor({ state: "detached" });
  await open(page);
  await panel(page).getByRole("button", { name: "Poet", exact: true }).click();
  await eventually(async () => assert.equal(await field(page, "Instructions").inputValue(), "Answer in rhymes."));
  await field(page, "Instructions").fill("Answer in verses.");
  await panel(page).getByRole("button", { name: "Replace Poet with what is set below" }).click();
  await panel(page).getByText("Poet has what is set below.").waitFor();
  await panel(page).getByRole("button", { name: "Rename Poet" }).click();
  await panel(page).getByRole("textbox", { name: "Name of the preset" }).fill("Bard");
  await page.keyboard.press("Enter");
  await panel(page).getByRole("button", { name: "Bard", exact: true }).waitFor();
  await eventually(async () => assert.equal((await context.get(page, "/api/presets")).presets[0].settings.instructions, "Answer in verses."));
  await panel(page).getByRole("button", { name: "Delete Bard" }).click();
  await panel(page).getByRole("group", { name: "Delete the preset Bard?" }).getByRole("button", { name: "Delete" }).click();
  await panel(page).getByText("Bard is deleted.").waitFor();
  await eventually(async () => assert.deepEqual((await context.get(page, "/api/presets")).presets, []));
}

// thorough
export async function an_older_edit_of_another_tab_is_refused_in_words(context) {
  context.allow(/status of 409/);
  const [page] = await startConversation(context, "tab");
  await open(page);
  await keepPreset(page, "Poet");
  const other = await context.visit(new URL(page.url()).pathname, { on: "accounts", beside: page });
  await open(other);
  await field(page, "Temperature").fill("0.5");
  await save(page);
  await note(other).getByText("temperature 0.5").waitFor();
  await field(other, "Instructions").fill("Mine.");
  await save(other);
  await panel(other).getByText("These settings were changed elsewhere").waitFor();
  await eventually(async () => assert.equal(await field(other, "Instructions").inputValue(), "Mine."));
  await save(other, "Save mine");
  await note(page).getByText("Here only: own instructions").waitFor();
  await open(page);
  await open(other);
  await panel(page).getByRole("button", { name: "Rename Poet" }).click();
  await panel(page).getByRole("textbox", { name: "Name of the preset" }).fill("Bard");
  await page.keyboard.press("Enter");
  await panel(page).getByRole("button", { name: "Bard", exact: true }).waitFor();
  await panel(other).getByRole("button", { name: "Replace Poet with what is set below" }).click();
  await panel(other).getByRole("alert").getByText("This preset was changed elsewhere").waitFor();
  await panel(other).getByRole("button", { name: "Bard", exact: true }).waitFor();
}

export async function what_could_not_be_saved_is_kept_and_can_be_saved_again(context) {
  context.allow(/ERR_FAILED/);
  const [page, path] = await startConversation(context, "fay");
  await open(page);
  await page.route(`**${path}`, (route) => (route.request().method() === "PUT" ? route.abort() : route.fallback()));
  await field(page, "Instructions").fill("Be brief.");
  await save(page);
  await panel(page).getByRole("alert").getByText(/^Not saved: The server can't be reached/).waitFor();
  await page.keyboard.press("Escape");
  await panel(page).waitFor({ state: "hidden" });
  await page.unroute(`**${path}`);
  await open(page);
  await eventually(async () => assert.equal(await field(page, "Instructions").inputValue(), "Be brief."));
  await save(page);
  await note(page).getByText("own instructions").waitFor();
  await eventually(async () => assert.equal((await context.get(page, path)).instructions, "Be brief."));
}

// thorough
export async function starred_models_come_first_in_the_list(context) {
  const page = await context.visit("/", as("sam"));
  const list = page.getByRole("dialog", { name: "Which model answers?" });
  const sections = () => textsOf(list.locator("section h3"));
  await page.locator(".bar .model").click();
  await list.getByRole("button", { name: "Favourite: Inspector (gemini)" }).click();
  await context.until("the star is stored", async () => (await context.get(page, "/api/settings")).favourites.length === 1);
  await eventually(async () => assert.ok(!(await sections()).includes("Favourites")));
  const star = list.getByRole("button", { name: "Favourite: Inspector (gemini)", pressed: true });
  await eventually(async () => assert.ok(await star.evaluate((button) => button === document.activeElement)));
  await page.keyboard.press("Escape");
  await page.locator(".bar .model").click();
  await eventually(async () => assert.equal((await sections())[0], "Favourites"));
  await checkAccessibility(page, context.input.displays ?? 2);
  await list.getByRole("region", { name: "Favourites" }).getByRole("button", { name: /^Inspector \(gemini\)/ }).click();
  await page.locator(".bar").getByRole("button", { name: /^Model: ?Inspector/ }).waitFor();
  await page.locator(".bar .model").click();
  await list.getByRole("button", { name: "Favourite: Inspector (gemini)" }).click();
  await context.until("the star is gone", async () => (await context.get(page, "/api/settings")).favourites.length === 0);
}

// thorough
export async function the_panel_is_accessible_in_german_on_a_phone(context) {
  const page = await context.visit("/", as("uwe", { locale: "de-DE" }));
  await page.locator(".bar").getByRole("button", { name: "Einstellungen dieser Unterhaltung" }).click();
  const opened = page.getByRole("dialog", { name: "Einstellungen dieser Unterhaltung" });
  await opened.getByRole("group", { name: "Tools" }).waitFor();
  await opened.getByRole("textbox", { name: "Name der neuen Vorlage" }).fill("Dichter");
  await page.keyboard.press("Enter");
  await opened.getByText("Dichter ist gespeichert.").waitFor();
  await opened.getByLabel("Temperatur").fill("0.5");
  await checkAccessibility(page, context.input.displays ?? 2);
  await page.setViewportSize(PHONE);
  await context.until("the page fits", () => page.evaluate((width) => document.documentElement.scrollWidth === width, PHONE.width));
  await context.until("the dialog fits", () => opened.evaluate((dialog) => dialog.scrollWidth <= dialog.clientWidth));
  await opened.getByRole("button", { name: "Speichern", exact: true }).click();
  await page.getByText("Nur hier: Temperatur 0,5").waitFor();
  await checkAccessibility(page, context.input.displays ?? 2);
  await eventually(async () => assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), PHONE.width));
}
