// Finding conversations: searches by words, files and days; pins, tags and the archive; actions and shortcuts by keyboard.
import { checkAccessibility } from "../accessibility_check.mjs";
import { answers, assert, conversationId, sendAndWait, textsOf, userMessages, eventually } from "../actions.mjs";
import { attach, imageFile, textFile } from "../attachments.mjs";

/** A user of the site with accounts, with conversations of nobody else. */
const as = (id) => ({ on: "accounts", extraHTTPHeaders: { authorization: `Bearer ${id}` } });
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };
const HOSTILE = "<img src=x onerror=__pwned()>";

const sidebar = (page) => page.getByRole("navigation", { name: "Conversations" });
const search = (page) => page.getByRole("searchbox", { name: "Search conversations" });
const results = (page) => sidebar(page).getByRole("region", { name: "Search results" });
const found = (page, title) => results(page).getByRole("listitem").filter({ has: page.locator(".row-title", { hasText: title }) });

/** Starts a conversation with a message and files. */
async function begin(page, text, ...files) {
  await page.getByRole("link", { name: "New conversation" }).first().click();
  await page.getByRole("heading", { name: "What shall we look at?" }).waitFor();
  if (files.length) await attach(page, ...files);
  await sendAndWait(page, text);
  return conversationId(page);
}

const isInView = (locator) =>
  locator.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return top < innerHeight && bottom > 0;
  });

export async function a_search_leads_to_an_earlier_message_with_its_words(context) {
  const id = await context.call("long", { questions: 120, second: "Where is the <b>lighthouse</b> of Alexandria?" });
  const page = await context.visit("/");
  await search(page).fill("LIGHTHOUSE of");
  const row = results(page).getByRole("listitem").filter({ has: page.locator(`a[href*="${id}"]`) });
  const excerpt = row.locator(".found-text");
  await eventually(async () => assert.equal(await excerpt.innerText(), "Where is the <b>lighthouse</b> of Alexandria?"));
  await eventually(async () => assert.deepEqual(await textsOf(excerpt.locator("mark")), ["lighthouse", "of"]));
  await excerpt.click();
  const message = userMessages(page).filter({ hasText: "lighthouse" });
  await context.until("the message is in view", async () => (await message.count()) > 0 && isInView(message));
  await context.until("the message has the focus", () => message.evaluate((element) => element === document.activeElement));
  await page.reload();
  await context.until("a reload leads there, too", async () => (await message.count()) > 0 && isInView(message));
}

// thorough
export async function a_search_by_the_name_of_a_file_shows_its_picture_and_leads_to_it(context) {
  const page = await context.visit("/", as("finder"));
  const id = await begin(page, "What came?", imageFile("harbour at night.png"), textFile("<b>harbour notes.txt", "of a day"));
  for (let round = 0; round < 4; round++) await sendAndWait(page, "And now?\n".repeat(12));
  await begin(page, "Something else");
  await search(page).fill("harbour");
  const row = found(page, "What came?");
  await row.getByRole("img", { name: "image 1" }).waitFor();
  await context.until("the thumbnail is drawn", () => row.locator("img").evaluate((image) => image.naturalWidth > 0));
  await eventually(async () => assert.deepEqual(await textsOf(row.locator(".found-name")), ["harbour at night.png", "<b>harbour notes.txt"]));
  await eventually(async () => assert.equal(await results(page).getByRole("listitem").filter({ has: page.locator(".row-title") }).count(), 1));
  await checkAccessibility(page, context.input.displays ?? 2);
  await page.setViewportSize({ width: 1280, height: 800 });
  await row.getByRole("link", { name: "<b>harbour notes.txt", exact: true }).click(); // the excerpt has the name, too
  await page.waitForURL(new RegExp(`${id}#file-2$`));
  await context.until("the file has the focus", () => page.evaluate(() => document.activeElement?.id === "file-2"));
  await context.until("the file is in view", () => isInView(page.locator("#file-2")));
  await row.locator(".row-title").click();
  await context.until("the other file has the focus", () => page.evaluate(() => document.activeElement?.id === "file-1"));
}

// thorough
export async function a_message_on_another_branch_is_shown_when_it_was_found(context) {
  const page = await context.visit("/", as("brancher"));
  await begin(page, "Tell me of walruses");
  await userMessages(page).hover();
  await page.getByRole("button", { name: "Edit your message" }).click();
  await page.getByRole("textbox", { name: "Your message" }).fill("Tell me of seals");
  await page.getByRole("textbox", { name: "Your message" }).press("Enter");
  await userMessages(page).filter({ hasText: "seals" }).waitFor();
  await begin(page, "Something else");
  await search(page).fill("of walruses");
  await results(page).locator(".found-text").click();
  await context.until("the branch is shown", async () => /walruses/.test(await userMessages(page).first().innerText()));
}

// thorough
export async function a_file_on_another_branch_is_shown_when_it_was_found(context) {
  const page = await context.visit("/", as("filebrancher"));
  await begin(page, "Tell me of this walrus", imageFile("walrus.png"));
  await userMessages(page).hover();
  await page.getByRole("button", { name: "Edit your message" }).click();
  await page.getByRole("button", { name: "Leave walrus.png out" }).click();
  await page.getByRole("textbox", { name: "Your message" }).fill("Tell me of seals");
  await page.getByRole("textbox", { name: "Your message" }).press("Enter");
  await userMessages(page).filter({ hasText: "seals" }).waitFor();
  await begin(page, "Something else");
  await search(page).fill("walrus.png");
  await results(page).locator(".found-name").click();
  await context.until("the file has the focus", () => page.evaluate(() => document.activeElement?.id === "file-1"));
}

// thorough
export async function a_search_that_fails_says_so_and_can_be_repeated(context) {
  context.allow(/status of 503/);
  const page = await context.visit("/", as("retrier"));
  await begin(page, "A talk about owls");
  await page.route("**/api/conversations?*q=*", (route) =>
    route.fulfill({ status: 503, json: { error: { kind: "Busy", text: "the database is being moved" } } }),
  );
  await search(page).fill("owls");
  await sidebar(page).getByRole("alert").getByText("the database is being moved").waitFor();
  await page.unroute("**/api/conversations?*q=*");
  await sidebar(page).getByRole("button", { name: "Try again" }).click();
  await found(page, "A talk about owls").waitFor();
  await search(page).fill("nothing at all");
  await results(page).getByText("Nothing found").waitFor();
}

const rows = (page) => sidebar(page).locator(".row > a");
const row = (page, title) => rows(page).filter({ hasText: title });
const isFocused = (locator) => locator.evaluate((element) => element === document.activeElement);
const hasFocus = (context, locator, what) => context.until(`${what} has the focus`, async () => (await locator.count()) > 0 && isFocused(locator));

/** The headings of the list. */
const headings = (page) => textsOf(sidebar(page).getByRole("heading", { level: 2 }));

// thorough
export async function all_of_a_rows_actions_work_by_keyboard(context) {
  const page = await context.visit("/", as("typist"));
  for (const text of ["The first talk", "The second talk", "The third talk"]) await begin(page, text);
  await row(page, "The second talk").focus();
  await page.keyboard.press("F2");
  await page.getByRole("textbox", { name: "Title" }).fill("<i>Second</i>");
  await page.keyboard.press("Enter");
  await hasFocus(context, row(page, "<i>Second</i>"), "the renamed row");
  await page.keyboard.press("p");
  await sidebar(page).getByRole("heading", { name: "Pinned" }).waitFor();
  await hasFocus(context, row(page, "<i>Second</i>"), "the pinned row");
  await eventually(async () => assert.match(await rows(page).first().innerText(), /Second/));
  await page.keyboard.press("t");
  await page.getByRole("dialog", { name: "Tags of “<i>Second</i>”" }).waitFor();
  await page.keyboard.type("tax");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Remove the tag tax" }).waitFor();
  await page.keyboard.press("Escape");
  await hasFocus(context, row(page, "<i>Second</i>"), "the row of the tags");
  await page.keyboard.press("Shift+F10");
  const actions = page.getByRole("menu", { name: "Actions of <i>Second</i>" });
  await hasFocus(context, actions.getByRole("menuitem", { name: "Rename" }), "the first item");
  await page.keyboard.press("End");
  await hasFocus(context, actions.getByRole("menuitem", { name: "Delete" }), "the last item");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await hasFocus(context, actions.getByRole("menuitem", { name: "Unpin" }), "the second item");
  await page.keyboard.press("Escape");
  await actions.waitFor({ state: "detached" });
  await hasFocus(context, row(page, "<i>Second</i>"), "the row of the menu");
  await page.keyboard.press("Delete");
  await page.getByRole("dialog").getByText("“<i>Second</i>” will be gone for good.").waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Escape");
  await hasFocus(context, row(page, "<i>Second</i>"), "the row that stays");
  await page.keyboard.press("Delete");
  await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).focus();
  await page.keyboard.press("Enter");
  await hasFocus(context, row(page, "The third talk"), "the next row");
  await page.keyboard.press("a");
  await hasFocus(context, row(page, "The first talk"), "the row after the archived one");
  await eventually(async () => assert.equal(await rows(page).count(), 1));
}

// thorough
export async function archived_conversations_have_a_view_and_come_back(context) {
  const page = await context.visit("/", as("archivist"));
  for (const text of ["An old talk", "A new talk"]) await begin(page, text);
  await row(page, "An old talk").hover();
  await page.getByRole("button", { name: "Actions of An old talk" }).click();
  await page.getByRole("menuitem", { name: "Archive" }).click();
  await row(page, "An old talk").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Undo" }).click();
  await row(page, "An old talk").waitFor();
  await row(page, "An old talk").press("a");
  await row(page, "An old talk").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Filters", exact: true }).click();
  await page.getByRole("checkbox", { name: "Only the archive" }).check();
  const archive = sidebar(page).getByRole("region", { name: "Archive" });
  await archive.getByRole("heading", { name: "1 archived conversation" }).waitFor();
  await checkAccessibility(page, context.input.displays ?? 2);
  await page.setViewportSize({ width: 1280, height: 800 });
  await search(page).fill("talk");
  await context.until("only the archive is searched", async () => (await rows(page).count()) === 1);
  await row(page, "An old talk").press("a");
  await archive.getByRole("heading", { name: "Nothing in the archive" }).waitFor();
  await archive.getByRole("button", { name: "Clear filters" }).click();
  await context.until("both are found", async () => (await rows(page).count()) === 2);
}

// thorough
export async function conversations_are_filtered_by_files_days_and_tags(context) {
  const page = await context.visit("/", { ...as("filterer"), timezoneId: "Pacific/Auckland" });
  await begin(page, "A picture", imageFile("dot.png"));
  await begin(page, "A text", textFile("notes.txt", "hello"));
  await page.getByRole("button", { name: "Filters", exact: true }).click();
  const panel = page.getByRole("form", { name: "Filters" });
  await hasFocus(context, panel.getByLabel("Files"), "the first filter");
  await panel.getByLabel("Files").selectOption("Pictures");
  await found(page, "A picture").locator("img").waitFor();
  await eventually(async () => assert.equal(await rows(page).count(), 1));
  await panel.getByLabel("Files").selectOption("Any kind, or none");
  const today = await page.evaluate(() => [new Date().getFullYear(), new Date().getMonth() + 1, new Date().getDate()].map((part) => String(part).padStart(2, "0")).join("-"));
  const next = new Date(Date.parse(today) + 86_400_000).toISOString().slice(0, 10);
  await panel.getByLabel("From").fill(today);
  await panel.getByLabel("To", { exact: true }).fill(today);
  await context.until("both are of today", async () => (await headings(page)).includes("2 conversations found"));
  await eventually(async () => assert.equal(await panel.getByLabel("To", { exact: true }).inputValue(), today));
  await panel.getByLabel("To", { exact: true }).fill("");
  await panel.getByLabel("From").fill(next);
  await results(page).getByText("Nothing found").waitFor();
  await results(page).getByRole("button", { name: "Clear filters" }).click();
  await row(page, "A text").press("t");
  await page.getByRole("combobox", { name: "New tag" }).fill(HOSTILE);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: `Remove the tag ${HOSTILE}` }).waitFor();
  await checkAccessibility(page, context.input.displays ?? 2);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByRole("button", { name: "Close", exact: true }).last().click();
  await panel.getByLabel("Tag").selectOption(`${HOSTILE} (1)`);
  await found(page, "A text").getByRole("button", { name: HOSTILE }).waitFor();
  await eventually(async () => assert.equal(await rows(page).count(), 1));
  await checkAccessibility(page, context.input.displays ?? 2);
  await page.setViewportSize({ width: 1280, height: 800 });
  await panel.getByLabel("Tag").press("Escape");
  await hasFocus(context, page.getByRole("button", { name: "Filters", exact: true }), "the button of the filters");
}

// thorough
export async function a_change_that_fails_says_so_and_leaves_the_row(context) {
  context.allow(/status of (422|503)/);
  const page = await context.visit("/", as("unlucky"));
  await begin(page, "A talk that stays");
  const fail = (route) => route.fulfill({ status: 503, json: { error: { kind: "Busy", text: "the disk is full" } } });
  await page.route("**/api/conversations/*", (route) => (["PATCH", "DELETE"].includes(route.request().method()) ? fail(route) : route.fallback()));
  for (const [count, key] of ["p", "a"].entries()) {
    await row(page, "A talk that stays").press(key);
    await page.getByText("Not saved: the disk is full").nth(count).waitFor();
  }
  await row(page, "A talk that stays").press("Delete");
  await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByText("Not deleted: the disk is full").waitFor();
  await row(page, "A talk that stays").press("t");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.type("tax");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("the disk is full").waitFor();
  await eventually(async () => assert.equal(await page.getByRole("combobox", { name: "New tag" }).inputValue(), "tax"));
  await page.keyboard.press("Escape");
  await row(page, "A talk that stays").waitFor();
}

// thorough
export async function a_question_mark_shows_all_shortcuts_unless_it_is_typed(context) {
  const page = await context.visit("/");
  const box = page.getByRole("textbox", { name: "Message", exact: true });
  await box.press("?");
  await eventually(async () => assert.equal(await box.inputValue(), "?"));
  await page.getByRole("link", { name: "Settings", exact: true }).focus();
  await page.keyboard.press("?");
  const dialog = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await dialog.getByText("Search conversations").waitFor();
  await checkAccessibility(page, context.input.displays ?? 2);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.locator('a[href$="/settings"]').first().waitFor(); // it is hidden on a phone, and can't get the focus there
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await hasFocus(context, page.getByRole("link", { name: "Settings", exact: true }), "what had the focus before");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Keyboard shortcuts" }).click();
  await dialog.waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Hide the list" }).click();
  await page.getByRole("button", { name: "Show the list" }).focus();
  await page.keyboard.press("?");
  await dialog.getByRole("button", { name: "Close" }).click();
  await dialog.waitFor({ state: "detached" });
}

// thorough
export async function finding_works_on_a_phone_in_german(context) {
  const page = await context.visit("/", { ...as("telefon"), ...PHONE, locale: "de-DE", timezoneId: "Europe/Berlin" });
  await attach(page, imageFile("Hafen.png"));
  await page.locator(".composer-text").fill("Was ist im Hafen?");
  await page.locator("button.send:enabled").click();
  await page.locator(".answer .receipts-opener").waitFor();
  const fits = (what) => eventually(async () => assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, what));
  await page.getByRole("button", { name: "Unterhaltungen" }).click();
  await page.getByRole("button", { name: "Aktionen für Was ist im Hafen?" }).click();
  await page.getByRole("menuitem", { name: "Umbenennen" }).waitFor();
  await checkAccessibility(page, context.input.displays ?? 2);
  await fits("the menu");
  await page.getByRole("menuitem", { name: "Anheften" }).click();
  await page.getByRole("heading", { name: "Angeheftet" }).waitFor();
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page.getByLabel("Dateien", { exact: true }).selectOption("Bilder");
  await page.getByRole("heading", { name: "1 Unterhaltung gefunden" }).waitFor();
  await page.locator(".found-thumbnail img").waitFor();
  await checkAccessibility(page, context.input.displays ?? 2);
  await fits("the filters");
  await page.locator(".found-files a").click();
  await context.until("the drawer is closed", async () => !(await page.locator(".side-open").count()));
  await context.until("the file has the focus", () => page.evaluate(() => document.activeElement?.id === "file-1"));
}
