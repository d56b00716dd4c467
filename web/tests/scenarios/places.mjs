// What is around a conversation: the list, the other pages, small screens, dark rooms, and the keyboard alone.
import { answered, answers, ask, assert, box, idOf, questions } from "../doing.mjs";
import { tray, pick, text } from "../giving.mjs";

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };
const side = (page) => page.getByRole("navigation", { name: "Conversations" });
const theme = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
const lightness = (colour) => Math.max(...colour.match(/[\d.]+/g).slice(0, 3).map(Number));

export async function a_conversation_is_renamed_found_and_deleted(scene) {
  const page = await scene.visit("/", { on: "spoken" });
  await ask(page, "Say: a tale of lighthouses");
  const row = side(page).getByRole("listitem").filter({ has: page.locator('a[aria-current="page"]') });
  await row.hover();
  await row.getByRole("button", { name: /^Rename / }).click();
  await page.getByRole("textbox", { name: "Title" }).fill("Quarterly figures");
  await page.keyboard.press("Enter");
  await side(page).getByRole("link", { name: "Quarterly figures", exact: true }).waitFor();
  await page.keyboard.press("Escape");
  const search = side(page).getByRole("searchbox");
  await search.fill("lighthouses");
  await side(page).getByRole("link", { name: "Quarterly figures", exact: true }).waitFor();
  await search.fill("nothing like it");
  await side(page).getByText("Nothing found for “nothing like it”.").waitFor();
  await search.fill("");
  await side(page).getByRole("link", { name: "Quarterly figures", exact: true }).hover();
  await page.getByRole("button", { name: "Delete Quarterly figures" }).click();
  await page.getByRole("dialog").getByText("“Quarterly figures” will be gone for good.").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("heading", { name: "What shall we look at?" }).waitFor();
  await scene.until("the row is gone", async () => !(await side(page).getByRole("link", { name: "Quarterly figures", exact: true }).count()));
}

export async function a_conversation_is_taken_along_as_an_archive(scene) {
  const page = await scene.visit("/", { on: "spoken" });
  await ask(page, "Say: keep this");
  const row = side(page).getByRole("listitem").filter({ has: page.locator('a[aria-current="page"]') });
  await row.hover();
  const coming = page.waitForEvent("download");
  await row.getByRole("link", { name: /^Export / }).click();
  assert.match((await coming).suggestedFilename(), /\.zip$/);
}

export async function back_and_forward_go_between_conversations(scene) {
  const page = await scene.visit("/", { on: "spoken" });
  await ask(page, "Say: the first");
  const first = await idOf(page);
  await side(page).getByRole("link", { name: "New conversation" }).click();
  await page.getByRole("heading", { name: "What shall we look at?" }).waitFor();
  await ask(page, "Say: the second");
  await page.waitForURL((url) => /\/c\//.test(url.pathname) && !url.pathname.includes(first));
  for (const words of ["the first", "the second"]) await side(page).getByText(words).waitFor(); // both are stored
  await page.goBack();
  await page.waitForURL((url) => url.pathname.includes(first));
  await answers(page).getByText("the first").waitFor();
  await page.goForward();
  await page.waitForURL((url) => !url.pathname.includes(first));
  await answers(page).getByText("the second").waitFor();
}

export async function the_matrix_tells_what_models_see_and_finds_one(scene) {
  const page = await scene.visit("/");
  await side(page).getByRole("link", { name: "What models see" }).click();
  await page.getByText(/^\d+ families of models$/).waitFor();
  await page.getByRole("searchbox", { name: "Find a provider or model" }).fill("gemini-3-flash-preview");
  await page.getByText(/^\d+ of \d+ families$/).waitFor();
  assert.equal(new URL(page.url()).pathname, "/matrix");
  await page.reload();
  await page.getByText(/^\d+ families of models$/).waitFor();
}

export async function settings_are_kept_and_told_to_the_model(scene) {
  const page = await scene.visit("/settings", { on: "own" });
  await page.getByRole("textbox", { name: "Instructions" }).fill("Answer in rhymes.");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved.").waitFor();
  await page.getByRole("radio", { name: "Dark" }).check();
  await scene.until("the page is dark", async () => lightness(await theme(page)) < 60);
  await page.reload();
  const box = page.getByRole("textbox", { name: "Instructions" });
  await scene.until("the words are kept", async () => (await box.inputValue()) === "Answer in rhymes.");
  await scene.until("the page is still dark", async () => lightness(await theme(page)) < 60);
  const kept = await scene.get(page, "/api/settings");
  assert.deepEqual([kept.instructions, kept.theme], ["Answer in rhymes.", "dark"]);
}

export async function the_page_is_dark_where_the_system_is(scene) {
  const dark = await scene.visit("/", { colorScheme: "dark" });
  const light = await scene.visit("/", { colorScheme: "light" });
  await box(dark).waitFor();
  assert.ok(lightness(await theme(dark)) < 60);
  assert.ok(lightness(await theme(light)) > 200);
}

export async function on_a_phone_everything_fits_and_can_be_reached(scene) {
  const page = await scene.visit("/", { on: "plain", ...PHONE });
  const width = () => page.evaluate(() => document.documentElement.scrollWidth);
  await page.getByRole("button", { name: "Draw a chart" }).click();
  const answer = await answered(page, 1);
  assert.equal(await width(), 390, "nothing stands out at the side");
  const figure = await answer.getByRole("figure").boundingBox();
  assert.ok(figure.x >= 0 && figure.x + figure.width <= 390);
  await page.getByRole("button", { name: "Conversations" }).click();
  await side(page).getByRole("link", { name: "What models see" }).click();
  await page.getByText(/^\d+ families of models$/).waitFor();
  assert.equal(await width(), 390);
  await page.getByRole("button", { name: "Conversations" }).click();
  await side(page).getByRole("link", { name: "Settings" }).click();
  await page.getByRole("textbox", { name: "Instructions" }).waitFor();
  assert.equal(await width(), 390);
}

export async function the_keyboard_alone_is_enough(scene) {
  const page = await scene.visit("/", { on: "own" });
  await page.locator(".example").first().waitFor();
  await box(page).waitFor();
  const seen = new Set();
  while (!seen.has("Draw a chart") && seen.size < 40) {
    await page.keyboard.press("Tab");
    seen.add(await page.evaluate(nameHere));
  }
  assert.ok(seen.has("Draw a chart"), [...seen].join("; "));
  await page.keyboard.press("Enter");
  const answer = await answered(page, 1);
  await answer.locator("summary").first().focus();
  await page.keyboard.press("Enter");
  await answer.locator(".tool-details").waitFor();
  await answer.getByRole("button", { name: "Open image 1 in full" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Pictures of this conversation" }).waitFor();
  await page.keyboard.press("Escape");
  await scene.until("the focus is back", () =>
    page.evaluate(() => document.activeElement?.getAttribute("aria-label") === "Open image 1 in full"),
  );
  await box(page).press("/");
  assert.equal(await box(page).inputValue(), "/", "a slash in a message is a slash");
}

/** What the focus stands on, in words. */
function nameHere() {
  const here = document.activeElement;
  if (here === document.body) return "nothing";
  return here?.querySelector(".example-title")?.textContent ?? here?.getAttribute("aria-label") ?? here?.textContent ?? "";
}

export async function a_file_that_is_removed_isnt_sent(scene) {
  const page = await scene.visit("/");
  await pick(page, text("one.txt", "first"), text("two.txt", "second"));
  await tray(page).getByRole("button", { name: "Remove one.txt" }).click();
  await ask(page, "What came?");
  await questions(page).getByRole("figure", { name: "text 1: two.txt" }).waitFor();
  assert.equal(await questions(page).getByRole("figure").count(), 1);
}

export async function nothing_makes_the_page_itself_scroll(scene) {
  const page = await scene.visit("/", { viewport: { width: 320, height: 640 } });
  await page.getByRole("button", { name: "Compare two pictures" }).click();
  await answered(page, 1);
  const sizes = () => page.evaluate(() => {
    const { scrollHeight, scrollWidth } = document.documentElement;
    const talk = document.querySelector(".talk");
    return { high: scrollHeight > innerHeight, wide: scrollWidth > innerWidth || talk.scrollWidth > talk.clientWidth };
  });
  assert.deepEqual(await sizes(), { high: false, wide: false }, "a conversation");
  for (const place of ["/settings", "/matrix", "/"]) {
    await page.goto(new URL(place, page.url()).href);
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    assert.deepEqual(await sizes(), { high: false, wide: false }, place);
  }
}

export async function a_conversation_is_printed_whole(scene) {
  const page = await scene.visit("/");
  await page.getByRole("button", { name: "Compare two pictures" }).click();
  await answered(page, 1);
  await page.emulateMedia({ media: "print" });
  const talk = page.locator(".talk");
  assert.equal(await talk.evaluate((one) => one.scrollHeight - one.clientHeight), 0);
  assert.equal(await page.getByRole("textbox", { name: "Message" }).isVisible(), false);
}

export async function the_search_is_reached_from_the_message_and_its_results_by_arrows(scene) {
  const page = await scene.visit("/");
  await ask(page, "hello");
  await side(page).locator(".row > a").first().waitFor();
  await side(page).getByText("Ctrl K").waitFor();
  await box(page).press("Control+k");
  const search = page.getByRole("searchbox", { name: "Search conversations" });
  await scene.until("the search has the focus", () => search.evaluate((one) => one === document.activeElement));
  await search.press("ArrowDown");
  const first = side(page).locator(".row > a").first();
  assert.equal(await first.evaluate((one) => one === document.activeElement), true);
  await first.press("ArrowUp");
  assert.equal(await search.evaluate((one) => one === document.activeElement), true);
}

export async function who_answers_without_a_key_is_said_and_why_another_cannot(scene) {
  const page = await scene.visit("/");
  await page.getByText(/The inspector is a built-in tester, not an AI/).waitFor();
  await page.getByText("ANTHROPIC_API_KEY=… make run").waitFor();
  await page.route("**/api/models", async (route) => {
    const told = await (await route.fetch()).json();
    const closed = { ...told.models[0], id: "away:one", provider: "away", name: "One", available: false, why: "set AWAY_KEY" };
    await route.fulfill({ json: { ...told, models: [...told.models, closed] } });
  });
  await page.reload();
  await page.locator("main .model").click();
  const picker = page.getByRole("dialog", { name: "Which model answers?" });
  await picker.getByText(/built-in tester/).waitFor();
  const search = picker.getByRole("searchbox", { name: "Search models" });
  await search.fill("away:two");
  await picker.getByText("away can’t be asked: set AWAY_KEY").waitFor();
  await search.fill("nobody:two");
  await picker.getByText(/No match\. You can enter any model/).waitFor();
}
