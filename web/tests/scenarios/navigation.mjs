// Everything around a conversation: the list, other pages, small screens, dark mode, the keyboard, printing.
import { waitForAnswer, answers, sendAndWait, assert, messageBox, conversationId, userMessages, eventually } from "../actions.mjs";

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };
const sidebar = (page) => page.getByRole("navigation", { name: "Conversations" });
const backgroundColor = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
const lightness = (color) => Math.max(...color.match(/[\d.]+/g).slice(0, 3).map(Number));

export async function a_conversation_is_renamed_found_and_deleted(context) {
  const page = await context.visit("/", { on: "echo" });
  await sendAndWait(page, "Say: a tale of lighthouses");
  const row = sidebar(page).getByRole("listitem").filter({ has: page.locator('a[aria-current="page"]') });
  await row.hover();
  await row.getByRole("button", { name: /^Actions of / }).click();
  await page.getByRole("menuitem", { name: "Rename" }).click();
  await page.getByRole("textbox", { name: "Title" }).fill("Quarterly figures");
  await page.keyboard.press("Enter");
  await sidebar(page).getByRole("link", { name: "Quarterly figures", exact: true }).waitFor();
  await page.keyboard.press("Escape");
  const search = sidebar(page).getByRole("searchbox");
  await search.fill("lighthouses");
  await sidebar(page).getByRole("link", { name: "Quarterly figures", exact: true }).waitFor();
  await search.fill("nothing like it");
  await sidebar(page).getByText("Nothing found").waitFor();
  await search.fill("");
  await sidebar(page).getByRole("link", { name: "Quarterly figures", exact: true }).hover();
  await page.getByRole("button", { name: "Actions of Quarterly figures" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("dialog").getByText("“Quarterly figures” will be gone for good.").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("heading", { name: "What shall we look at?" }).waitFor();
  await context.until("the row is gone", async () => !(await sidebar(page).getByRole("link", { name: "Quarterly figures", exact: true }).count()));
}

// thorough
export async function a_conversation_is_exported_as_an_archive(context) {
  const page = await context.visit("/", { on: "echo" });
  await sendAndWait(page, "Say: keep this");
  const row = sidebar(page).getByRole("listitem").filter({ has: page.locator('a[aria-current="page"]') });
  await row.hover();
  await row.getByRole("button", { name: /^Actions of / }).click();
  const download = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: "Export" }).click();
  await eventually(async () => assert.match((await download).suggestedFilename(), /\.zip$/));
}

// thorough
export async function back_and_forward_switch_conversations(context) {
  const page = await context.visit("/", { on: "echo" });
  await sendAndWait(page, "Say: the first");
  const first = await conversationId(page);
  await sidebar(page).getByRole("link", { name: "New conversation" }).click();
  await page.getByRole("heading", { name: "What shall we look at?" }).waitFor();
  await sendAndWait(page, "Say: the second");
  await page.waitForURL((url) => /\/c\//.test(url.pathname) && !url.pathname.includes(first));
  for (const text of ["the first", "the second"]) await sidebar(page).getByText(text).waitFor(); // both are stored
  await page.goBack();
  await page.waitForURL((url) => url.pathname.includes(first));
  await answers(page).getByText("the first").waitFor();
  await page.goForward();
  await page.waitForURL((url) => !url.pathname.includes(first));
  await answers(page).getByText("the second").waitFor();
}

// thorough
export async function the_matrix_can_be_searched_and_reloaded(context) {
  const page = await context.visit("/");
  await sidebar(page).getByRole("link", { name: "What models see" }).click();
  await page.getByText(/^\d+ families of models$/).waitFor();
  await page.getByRole("searchbox", { name: "Find a provider or model" }).fill("gemini-3-flash-preview");
  await page.getByText(/^\d+ of \d+ families$/).waitFor();
  assert.equal(new URL(page.url()).pathname, "/matrix");
  await page.reload();
  await page.getByText(/^\d+ families of models$/).waitFor();
}

// thorough
export async function the_matrix_shows_one_kind_of_file_by_mouse_and_keys(context) {
  const page = await context.visit("/matrix");
  const headers = page.getByRole("columnheader", { name: /^(image|document|audio|video|text)$/ });
  await page.getByText(/^\d+ families of models$/).waitFor();
  await eventually(async () => assert.ok((await headers.count()) >= 5));
  await page.getByText("audio", { exact: true }).first().click();
  await context.until("one kind is left", async () => (await headers.allInnerTexts()).every((text) => /audio/i.test(text)));
  await page.keyboard.press("ArrowRight");
  await context.until("the next kind is shown", async () => (await headers.allInnerTexts()).every((text) => /video/i.test(text)));
}

export async function settings_are_saved(context) {
  const page = await context.visit("/settings", { on: "scratch" });
  await page.getByRole("textbox", { name: "Instructions" }).fill("Answer in rhymes.");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved.").waitFor();
  await page.getByRole("radio", { name: "Dark" }).check();
  await context.until("the page is dark", async () => lightness(await backgroundColor(page)) < 60);
  await page.reload();
  const instructions = page.getByRole("textbox", { name: "Instructions" });
  await context.until("the instructions are saved", async () => (await instructions.inputValue()) === "Answer in rhymes.");
  await context.until("the page is still dark", async () => lightness(await backgroundColor(page)) < 60);
  const settings = await context.get(page, "/api/settings");
  assert.deepEqual([settings.instructions, settings.theme], ["Answer in rhymes.", "dark"]);
}

// thorough
export async function the_page_follows_the_color_scheme_of_the_system(context) {
  const dark = await context.visit("/", { colorScheme: "dark" });
  const light = await context.visit("/", { colorScheme: "light" });
  await messageBox(dark).waitFor();
  await eventually(async () => assert.ok(lightness(await backgroundColor(dark)) < 60));
  await eventually(async () => assert.ok(lightness(await backgroundColor(light)) > 200));
}

export async function everything_fits_on_a_phone(context) {
  const page = await context.visit("/", { on: "inspector", ...PHONE });
  const width = () => page.evaluate(() => document.documentElement.scrollWidth);
  await page.getByRole("button", { name: "Draw a chart" }).click();
  const answer = await waitForAnswer(page, 1);
  await eventually(async () => assert.equal(await width(), 390, "nothing is wider than the screen"));
  const figure = await answer.getByRole("figure").boundingBox();
  assert.ok(figure.x >= 0 && figure.x + figure.width <= 390);
  await page.getByRole("button", { name: "Conversations" }).click();
  await sidebar(page).getByRole("link", { name: "What models see" }).click();
  await page.getByText(/^\d+ families of models$/).waitFor();
  await eventually(async () => assert.equal(await width(), 390));
  await page.getByRole("button", { name: "Conversations" }).click();
  await sidebar(page).getByRole("link", { name: "Settings" }).click();
  await page.getByRole("textbox", { name: "Instructions" }).waitFor();
  await eventually(async () => assert.equal(await width(), 390));
}

export async function everything_works_by_keyboard(context) {
  const page = await context.visit("/", { on: "scratch" });
  await page.locator(".example").first().waitFor();
  await messageBox(page).waitFor();
  const focused = new Set();
  while (!focused.has("Draw a chart") && focused.size < 40) {
    await page.keyboard.press("Tab");
    focused.add(await page.evaluate(focusedName));
  }
  assert.ok(focused.has("Draw a chart"), [...focused].join("; "));
  await page.keyboard.press("Enter");
  const answer = await waitForAnswer(page, 1);
  await answer.locator("summary").first().focus();
  await page.keyboard.press("Enter");
  await answer.locator(".tool-details").waitFor();
  await answer.getByRole("button", { name: "Open image 2 in full" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Pictures of this conversation" }).waitFor();
  await page.keyboard.press("Escape");
  await context.until("the focus is back", () =>
    page.evaluate(() => document.activeElement?.getAttribute("aria-label") === "Open image 2 in full"),
  );
  await messageBox(page).press("/");
  await eventually(async () => assert.equal(await messageBox(page).inputValue(), "/", "a slash in a message is a slash"));
}

/** The name of the focused element. */
function focusedName() {
  const element = document.activeElement;
  if (element === document.body) return "nothing";
  return element?.querySelector(".example-title")?.textContent ?? element?.getAttribute("aria-label") ?? element?.textContent ?? "";
}

// thorough
export async function the_document_itself_never_scrolls(context) {
  const page = await context.visit("/", { viewport: { width: 320, height: 640 } });
  await page.getByRole("button", { name: "Read a PDF page by page" }).click();
  await waitForAnswer(page, 1);
  const sizes = () => page.evaluate(() => {
    const { scrollHeight, scrollWidth } = document.documentElement;
    const list = document.querySelector(".talk");
    return { tall: scrollHeight > innerHeight, wide: scrollWidth > innerWidth || list.scrollWidth > list.clientWidth };
  });
  await eventually(async () => assert.deepEqual(await sizes(), { tall: false, wide: false }, "a conversation"));
  for (const path of ["/settings", "/matrix", "/"]) {
    await page.goto(new URL(path, page.url()).href);
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    await eventually(async () => assert.deepEqual(await sizes(), { tall: false, wide: false }, path));
  }
}

// thorough
export async function a_conversation_is_printed_in_full(context) {
  const page = await context.visit("/");
  await page.getByRole("button", { name: "Read a PDF page by page" }).click();
  await waitForAnswer(page, 1);
  await page.emulateMedia({ media: "print" });
  const list = page.locator(".talk");
  await eventually(async () => assert.equal(await list.evaluate((element) => element.scrollHeight - element.clientHeight), 0));
  await eventually(async () => assert.equal(await page.getByRole("textbox", { name: "Message" }).isVisible(), false));
}

// thorough
export async function search_has_a_shortcut_and_arrow_keys(context) {
  const page = await context.visit("/");
  await sendAndWait(page, "hello");
  await sidebar(page).locator(".row > a").first().waitFor();
  await sidebar(page).getByText("Ctrl K").waitFor();
  await messageBox(page).press("Control+k");
  const search = page.getByRole("searchbox", { name: "Search conversations" });
  await context.until("the search has the focus", () => search.evaluate((element) => element === document.activeElement));
  await search.press("ArrowDown");
  const first = sidebar(page).locator(".row > a").first();
  await eventually(async () => assert.equal(await first.evaluate((element) => element === document.activeElement), true));
  await first.press("ArrowUp");
  await eventually(async () => assert.equal(await search.evaluate((element) => element === document.activeElement), true));
}

// thorough
export async function the_inspector_is_explained_and_a_missing_key_is_named(context) {
  const page = await context.visit("/");
  await page.getByText("For a real model, choose another one in the list of models.").waitFor();
  await page.route("**/api/models", async (route) => {
    const catalog = await (await route.fetch()).json();
    const found = catalog.models.filter((model) => model.provider === "inspector");
    const unavailable = { ...found[0], id: "away:one", provider: "away", name: "One", available: false, why: "set AWAY_KEY" };
    await route.fulfill({ json: { ...catalog, models: [...found, unavailable] } });
  });
  await page.reload();
  await page.getByText("The inspector is a built-in tester, not an AI. For a real model, enter its key").waitFor();
  await page.getByRole("link", { name: "in the settings" }).click();
  await page.getByRole("heading", { name: "Keys of providers" }).waitFor();
  await page.goBack();
  await page.locator("main .model").click();
  const picker = page.getByRole("dialog", { name: "Which model answers?" });
  await picker.getByText(/built-in tester/).waitFor();
  const search = picker.getByRole("searchbox", { name: "Search models" });
  await search.fill("away:two");
  await picker.getByText("away can’t be asked: set AWAY_KEY").waitFor();
  await search.fill("nobody:two");
  await picker.getByText(/No match\. You can enter any model/).waitFor();
}
