// The languages of the page: that of the browser, or the user's choice, with words, plurals, numbers and dates.
import { checkAccessibility, DESKTOP, PHONE } from "../accessibility_check.mjs";
import { assert, textsOf, eventually } from "../actions.mjs";
import { attach, imageFile } from "../attachments.mjs";

const GERMAN = { locale: "de-DE" };
const ENGLISH_HEADING = "What shall we look at?";
const GERMAN_HEADING = "Was möchten Sie zeigen?";

/** Sends a message on a page of any language, and returns its answer once it is complete. */
async function ask(page, text) {
  const before = await page.locator(".answer").count();
  await page.locator(".composer-text").fill(text);
  await page.locator("button.send:enabled:not(.stop)").click();
  const answer = page.locator(".answer").nth(before);
  await answer.locator(".receipts-opener").waitFor();
  return answer;
}

/** Notes all headings that the page ever has, and the languages that it loads. */
async function watchLanguages(page) {
  const loaded = new Set();
  page.on("request", (request) => {
    const [, language] = /\/assets\/(en|de)-/.exec(request.url()) ?? [];
    if (language) loaded.add(language);
  });
  await page.addInitScript(() => {
    window.__headings = new Set();
    const note = () => document.querySelectorAll("h1").forEach((heading) => window.__headings.add(heading.textContent));
    new MutationObserver(note).observe(document, { childList: true, subtree: true, characterData: true });
  });
  const headings = () => page.evaluate(() => [...window.__headings]);
  return { loaded, headings };
}

export async function a_german_browser_sees_german_and_keeps_the_choice_of_english(context) {
  const first = await context.visit("/settings", { ...GERMAN, on: "scratch" });
  const page = await first.context().newPage();
  const { loaded, headings } = await watchLanguages(page);
  await page.goto(new URL("/", first.url()).href);
  await page.getByRole("heading", { name: GERMAN_HEADING }).waitFor();
  await eventually(async () => assert.deepEqual([await headings(), [...loaded]], [[GERMAN_HEADING], ["de"]]));
  await eventually(async () => assert.deepEqual(await page.evaluate(() => [document.documentElement.lang, document.documentElement.dir]), ["de", "ltr"]));
  await page.getByRole("link", { name: "Einstellungen", exact: true }).click();
  await page.getByRole("radio", { name: "English" }).click();
  await page.getByRole("heading", { name: "Settings" }).waitFor();
  await context.until("the title is English", async () => (await page.title()) === "Settings – Show & Tell");
  await eventually(async () => assert.ok(await page.getByRole("radio", { name: "English" }).evaluate((radio) => radio === document.activeElement)));
  loaded.clear();
  await page.goto(new URL("/", first.url()).href);
  await page.getByRole("heading", { name: ENGLISH_HEADING }).waitFor();
  await eventually(async () => assert.deepEqual([await headings(), [...loaded]], [[ENGLISH_HEADING], ["en"]]));
  await eventually(async () => assert.equal(await page.evaluate(() => document.documentElement.lang), "en"));
  await page.getByRole("link", { name: "Settings", exact: true }).click();
  await page.getByRole("radio", { name: "As the browser" }).click();
  await page.getByRole("heading", { name: "Einstellungen", exact: true }).waitFor();
}

export async function a_language_that_is_chosen_before_the_settings_have_loaded_stays(context) {
  const first = await context.visit("/settings", { ...GERMAN, on: "scratch" });
  const page = await first.context().newPage();
  let release;
  const released = new Promise((resolve) => (release = resolve));
  await page.route("**/api/settings", async (route) => {
    if (route.request().method() !== "GET") return route.continue();
    const response = await route.fetch(); // from before the choice
    await released;
    await route.fulfill({ response }).catch(() => {}); // nobody waits for it any more
  });
  await page.goto(first.url());
  const stored = page.waitForResponse((response) => response.request().method() === "PATCH");
  await page.getByRole("radio", { name: "English" }).click();
  await page.getByRole("heading", { name: "Settings" }).waitFor();
  await stored;
  release();
  await page.getByRole("radio", { name: "Dark" }).click();
  await context.until("the theme is stored", async () => (await context.get(page, "/api/settings")).theme === "dark");
  await eventually(async () => assert.deepEqual(await textsOf(page.locator("h1")), ["Settings"]));
  await page.getByRole("radio", { name: "As the browser" }).click();
  await page.getByRole("heading", { name: "Einstellungen", exact: true }).waitFor();
}

// thorough
export async function the_choice_of_a_language_is_that_of_all_browsers_of_a_user(context) {
  const page = await context.visit("/settings", { on: "scratch" });
  await page.getByRole("radio", { name: "Deutsch" }).click();
  await page.getByRole("heading", { name: "Einstellungen", exact: true }).waitFor();
  await context.until("the choice is stored", async () => (await context.get(page, "/api/settings")).language === "de");
  const other = await context.visit("/settings", { on: "scratch" });
  await other.getByRole("heading", { name: "Einstellungen", exact: true }).waitFor();
  await other.getByRole("radio", { name: "Wie der Browser" }).click();
  await other.getByRole("heading", { name: "Settings" }).waitFor();
  await context.until("the choice is taken back", async () => (await context.get(page, "/api/settings")).language === null);
}

// thorough
export async function a_browser_without_a_language_of_ours_gets_english(context) {
  const page = await context.visit("/", { locale: "fr-FR" });
  await page.getByRole("heading", { name: ENGLISH_HEADING }).waitFor();
}

// thorough
export async function files_are_counted_and_measured_in_the_language_of_the_page(context) {
  const page = await context.visit("/", GERMAN);
  await attach(page, imageFile("eins.png"));
  const one = await ask(page, "What came?");
  await eventually(async () => assert.match(await one.locator(".receipts-opener").innerText(), /1 Datei(?!en)/));
  await attach(page, imageFile("zwei.png"), imageFile("drei.png"));
  const two = await ask(page, "What came?");
  await eventually(async () => assert.match(await two.locator(".receipts-opener").innerText(), /2 Dateien/));
  await eventually(async () => assert.match((await textsOf(page.locator(".question figcaption"))).join(" "), /^Bild 1\s+eins\.png\s+79 Byte · 2 × 2 · von Ihnen/));
  await page.getByRole("button", { name: "Bild 1: in Ihre Nachricht schreiben" }).click();
  await eventually(async () => assert.equal(await page.locator(".composer-text").inputValue(), "image 1 ", "what the server reads"));
}

// thorough
export async function a_reference_in_the_language_of_the_page_leads_to_its_file(context) {
  const page = await context.visit("/", { ...GERMAN, on: "echo" });
  await attach(page, imageFile("eins.png"));
  const answer = await ask(page, "Say: Siehe Bild 1, auf image 1.");
  await answer.locator(".reference").nth(1).waitFor();
  await eventually(async () => assert.deepEqual(await textsOf(answer.locator(".reference")), ["Bild 1", "image 1"]));
}

/** The elements whose words are wider than the window. */
function cutElements() {
  const isScrolled = (element) => element.closest("pre, .file-scroll, .table-box") !== null;
  const isUnseen = (element) => element.closest(".unseen, .skip, [inert], [hidden]") !== null;
  return [...document.querySelectorAll("#app *")]
    .filter((element) => element.getBoundingClientRect().right > innerWidth + 1 && !isScrolled(element) && !isUnseen(element))
    .map((element) => `${element.className}: ${element.textContent.slice(0, 60)}`);
}

/** Checks a view on a desktop and a phone. */
async function checkView(context, page, name) {
  await checkAccessibility(page, context.input.displays ?? 2);
  for (const size of [PHONE, DESKTOP]) {
    await page.setViewportSize(size);
    await context.until(`${name} fits ${size.width} pixels`, async () => (await page.evaluate(cutElements)).length === 0);
    await eventually(async () => assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), size.width, name));
  }
}

// thorough
export async function german_views_are_accessible_and_fit_a_phone(context) {
  const page = await context.visit("/", GERMAN);
  await page.locator(".example").nth(2).waitFor();
  await checkView(context, page, "start");
  await page.getByRole("button", { name: /^Modell:/ }).click();
  await page.getByRole("searchbox", { name: "Modelle durchsuchen" }).waitFor();
  await checkView(context, page, "models");
  const matrix = await context.visit("/matrix", { beside: page });
  await matrix.getByText(/^\d+ Modellfamilien$/).waitFor();
  await matrix.getByRole("searchbox", { name: "Anbieter oder Modell finden" }).fill("gemini-3-flash-preview");
  await matrix.getByText(/^\d+ von \d+ Modellfamilien$/).waitFor();
  await checkView(context, matrix, "matrix");
  const settings = await context.visit("/settings", { beside: page });
  await settings.getByRole("group", { name: "Sprache" }).waitFor();
  await checkView(context, settings, "settings");
}

// thorough
export async function a_german_conversation_is_accessible_and_fits_a_phone(context) {
  const page = await context.visit("/", GERMAN);
  await attach(page, imageFile("ein Bild mit einem ziemlich langen Namen.png"), imageFile("zwei.png"));
  await ask(page, "/gdrive_display_image name=red\n/gdrive_display_image name=blue");
  await page.locator(".composer-text").fill("/send_money amount=3");
  await page.locator("button.send:enabled").click();
  await page.getByRole("group", { name: "Darf send_money laufen?" }).waitFor();
  await checkView(context, page, "conversation");
  await page.getByRole("button", { name: "Nein" }).click();
  await page.locator(".answer").nth(1).locator(".receipts-opener").waitFor();
  await page.locator(".receipts-opener button").first().click();
  await page.getByRole("dialog", { name: "Was das Modell gesehen hat" }).getByText("Woher wir das wissen:").first().waitFor();
  await checkView(context, page, "receipts");
}
