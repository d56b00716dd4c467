// What a person wrote or set is kept, whatever the network and the server do meanwhile.
import { answered, answers, ask, assert, box, idOf, questions, say } from "../doing.mjs";
import { pick, text, tray } from "../giving.mjs";

const side = (page) => page.getByRole("navigation", { name: "Conversations" });
const instructions = (page) => page.getByRole("textbox", { name: "Instructions" });
const refusal = (status, words) => ({
  status,
  contentType: "application/json",
  body: JSON.stringify({ error: { kind: "Refused", text: words } }),
});

/** Sets something as a program does. */
async function set(page, change) {
  const { origin } = new URL(page.url());
  const answer = await page.request.patch(`${origin}/api/settings`, { data: change, headers: { origin } });
  assert.equal(answer.status(), 200);
}

export async function a_look_that_is_chosen_changes_nothing_else(scene) {
  const page = await scene.visit("/", { on: "own" });
  await set(page, { instructions: "", theme: "light" });
  await page.goto(new URL("/settings", page.url()).href);
  await scene.until("it is read", () => instructions(page).isEnabled()); // the look alone is also kept by the browser
  assert.equal(await page.getByRole("radio", { name: "Light" }).isChecked(), true);
  await set(page, { instructions: "Answer in French." });
  await page.getByRole("radio", { name: "Dark" }).check(); // this page has never heard of the French
  await scene.until("it is dark", async () => (await scene.get(page, "/api/settings")).theme === "dark");
  assert.equal((await scene.get(page, "/api/settings")).instructions, "Answer in French.");
  await scene.until("it is told", async () => (await instructions(page).inputValue()) === "Answer in French.");
  await set(page, { instructions: "", theme: "system" });
}

export async function settings_that_could_not_be_read_are_asked_for_again_and_never_overwritten(scene) {
  scene.allow(/status of 503/);
  const page = await scene.visit("/", { on: "own" });
  await set(page, { instructions: "Answer in French." });
  let away = true;
  for (const path of ["**/api/settings", "**/api/models"])
    await page.route(path, (route) => (away ? route.fulfill(refusal(503, "The database is away.")) : route.continue()));
  await page.goto(new URL("/settings", page.url()).href);
  await page.getByText("The database is away.").first().waitFor();
  assert.equal(await instructions(page).isEditable(), false, "nobody writes over what wasn't read");
  away = false;
  await scene.until("it is read", async () => (await instructions(page).inputValue()) === "Answer in French.");
  assert.equal(await instructions(page).isEditable(), true);
  await page.locator(".settings .model").click();
  await page.locator(".model-row:enabled").first().waitFor();
  await set(page, { instructions: "" });
}

export async function a_message_that_waits_for_the_network_is_kept_when_another_conversation_is_opened(scene) {
  scene.allow(/ERR_INTERNET_DISCONNECTED/, /ERR_NETWORK_CHANGED/);
  const page = await scene.visit("/", { on: "own" });
  await ask(page, "A conversation to come back to");
  await idOf(page);
  await pick(page, text("kept.txt", "a file that must not be lost"));
  await page.context().setOffline(true);
  await say(page, "A long message that must not be lost");
  await page.getByText(/You are offline/).waitFor();
  await scene.until("it is on the page", async () => (await questions(page).count()) === 2);
  await side(page).getByRole("link", { name: "New conversation" }).click();
  await page.getByRole("heading", { name: "What shall we look at?" }).waitFor();
  assert.equal(await box(page).inputValue(), "", "it belongs elsewhere");
  await page.context().setOffline(false);
  await side(page).getByRole("link", { name: /come back to/ }).first().click();
  await scene.until("it is back", async () => (await box(page).inputValue()) === "A long message that must not be lost");
  await tray(page).getByText("kept.txt").waitFor();
  await page.locator("button.send:enabled").click();
  await answered(page, 2);
  await questions(page).getByRole("figure", { name: "text 1: kept.txt" }).waitFor();
}

export async function a_message_that_waits_for_the_network_outlives_a_reload(scene) {
  scene.allow(/ERR_FAILED/);
  const page = await scene.visit("/", { on: "own" });
  await page.locator(".example").first().waitFor();
  await page.route("**/api/chat", (route) => route.abort());
  await page.route("**/api/me", (route) => route.abort());
  await say(page, "Still here after a reload");
  await page.getByText(/The connection is lost/).first().waitFor();
  await page.unroute("**/api/me");
  await page.reload();
  await scene.until("it is back", async () => (await box(page).inputValue()) === "Still here after a reload");
}

export async function a_message_that_was_on_its_way_arrives_though_its_conversation_is_left(scene) {
  const page = await scene.visit("/", { on: "own" });
  await page.locator(".example").first().waitFor();
  let held = null;
  await page.route("**/api/chat", (route) => void (held = route));
  await say(page, "Sent, then left at once");
  await scene.until("it is on its way", () => held !== null);
  await side(page).getByRole("link", { name: "Settings" }).click();
  await instructions(page).waitFor();
  await side(page).getByRole("link", { name: "New conversation" }).click();
  await held.continue();
  await side(page).getByText("Sent, then left at once").first().waitFor();
  assert.equal(new URL(page.url()).pathname, "/", "another new conversation keeps its address");
  assert.equal(await box(page).inputValue(), "", "what has arrived isn't written twice");
}

export async function a_message_that_was_refused_after_its_conversation_was_left_is_kept(scene) {
  scene.allow(/status of 429/);
  const page = await scene.visit("/", { on: "own" });
  await page.locator(".example").first().waitFor();
  let held = null;
  await page.route("**/api/chat", (route) => void (held = route));
  await say(page, "Refused while nobody looked");
  await scene.until("it is on its way", () => held !== null);
  await side(page).getByRole("link", { name: "Settings" }).click();
  await instructions(page).waitFor();
  await side(page).getByRole("link", { name: "New conversation" }).click();
  await held.fulfill(refusal(429, "Too many requests."));
  await scene.until("it is back", async () => (await box(page).inputValue()) === "Refused while nobody looked");
}

export async function a_server_that_is_there_again_and_refuses_says_so_and_gives_the_message_back(scene) {
  scene.allow(/ERR_FAILED/, /status of 429/);
  const page = await scene.visit("/", { on: "own" });
  await page.locator(".example").first().waitFor();
  await page.route("**/api/chat", (route) => route.abort());
  await page.route("**/api/me", (route) => route.fulfill(refusal(429, "Too many requests: wait a minute.")));
  await say(page, "Not sent, and not lost");
  await page.getByRole("alert").getByText("Too many requests: wait a minute.").waitFor();
  await page.getByText("What you wrote is back in the box.").waitFor();
  assert.equal(await box(page).inputValue(), "Not sent, and not lost");
  assert.equal(await questions(page).count(), 0);
  assert.equal(await page.getByText(/The connection is lost/).count(), 0);
}

export async function a_part_of_the_page_that_does_not_come_is_said_and_the_page_can_be_loaded_anew(scene) {
  scene.allow(/ERR_FAILED/);
  const page = await scene.visit("/", { on: "own" });
  await box(page).fill("a draft");
  await page.route(/assets\/(SettingsPage|matrix|ModelList)-/, (route) => route.abort());
  const lost = page.getByRole("alert").getByText(/This part of the page could not be loaded/);
  for (const name of ["Settings", "What models see"]) {
    await side(page).getByRole("link", { name }).click();
    await lost.waitFor();
  }
  await side(page).getByRole("link", { name: "New conversation" }).click();
  assert.equal(await box(page).inputValue(), "a draft");
  await page.locator("main .model").click();
  await lost.waitFor();
  await page.keyboard.press("Escape");
  await side(page).getByRole("link", { name: "Settings" }).click();
  await lost.waitFor();
  await page.unrouteAll();
  await page.getByRole("button", { name: "Reload the page" }).click();
  await instructions(page).waitFor();
  await side(page).getByRole("link", { name: "New conversation" }).click();
  assert.equal(await box(page).inputValue(), "a draft");
}

export async function a_part_of_the_page_that_does_not_come_is_loaded_when_the_connection_is_back(scene) {
  scene.allow(/ERR_INTERNET_DISCONNECTED/, /ERR_NETWORK_CHANGED/);
  const page = await scene.visit("/", { on: "own" });
  await box(page).waitFor();
  await page.context().setOffline(true);
  await side(page).getByRole("link", { name: "What models see" }).click();
  await page.getByRole("status").getByText(/loaded as soon as the connection is back/).waitFor();
  await page.context().setOffline(false);
  const families = page.getByText(/families of models$/);
  const reload = page.getByRole("button", { name: "Reload the page" });
  await families.or(reload).first().waitFor();
  // Older browsers never ask again for a module that did not come: there a person has to load the page anew.
  if (await reload.count()) await reload.click();
  await families.waitFor();
  assert.equal(await page.locator(".matrix").evaluate((one) => getComputedStyle(one).overflow), "auto", "it has its styles");
}

export async function an_address_that_cannot_be_read_is_no_page(scene) {
  const page = await scene.visit("/", { on: "own" });
  await box(page).waitFor();
  await page.goto(`${scene.given.sites.own.url}/c/%E0%A4%A`);
  await page.getByText(/There is no page at this address/).waitFor();
}

export async function what_was_begun_is_there_again_after_another_page(scene) {
  const page = await scene.visit("/settings", { on: "own" });
  await page.locator("textarea:enabled").waitFor();
  const before = await instructions(page).inputValue();
  await instructions(page).fill("Answer in verse.");
  await side(page).getByRole("link", { name: "What models see" }).click();
  await page.getByText(/families of models$/).waitFor();
  await side(page).getByRole("link", { name: "Settings" }).click();
  assert.equal(await instructions(page).inputValue(), "Answer in verse.");
  await instructions(page).fill(before);
  await side(page).getByRole("link", { name: "New conversation" }).click();
  await ask(page, "hello");
  const first = await idOf(page);
  await page.getByRole("button", { name: "Edit your message" }).click();
  const edit = page.getByRole("textbox", { name: "Your message" });
  await edit.fill("hello again");
  await side(page).getByRole("link", { name: "New conversation" }).click();
  await page.locator(".example").first().waitFor();
  await side(page).locator(`a[href="/c/${first}"]`).click();
  await edit.waitFor();
  assert.equal(await edit.inputValue(), "hello again");
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.reload();
  await answers(page).first().waitFor();
  assert.equal(await edit.count(), 0);
}
