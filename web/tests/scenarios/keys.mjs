// Keys of providers are entered in the settings: tested, stored, never shown, deleted.
import { checkAccessibility } from "../accessibility_check.mjs";
import { assert, send, sendAndWait, eventually } from "../actions.mjs";

const GOOD = "mistral-standin-key";

/** The row of a provider in the settings, and its form once it is open. */
function rowOf(page, name) {
  return page.locator(".key-row", { has: page.getByText(name, { exact: true }) });
}

/** The settings without a stored key for Mistral, whichever scenario ran before, with the form for one. */
async function openForm(context) {
  const page = await context.visit("/settings", { on: "scratch" });
  await page.getByRole("button", { name: /(Enter a|Replace the) key for Mistral/ }).waitFor();
  const status = await page.evaluate(() => fetch("/api/providers/mistral/key", { method: "DELETE" }).then((answer) => answer.status));
  assert.equal(status, 204);
  await page.reload();
  await page.getByRole("button", { name: "Enter a key for Mistral" }).click();
  return page;
}

async function enter(page, name, key) {
  await page.getByRole("form", { name: `Enter a key for ${name}` }).getByLabel("Key", { exact: true }).fill(key);
  await page.keyboard.press("Enter");
}

/** Answers the question after a first key. */
async function answerProposal(page, answer) {
  const question = page.getByRole("dialog", { name: "Use Mistral for new conversations?" });
  await question.getByRole("button", { name: answer }).click();
  await question.waitFor({ state: "hidden" });
}

const modelOf = (page, name) => page.getByRole("button", { name: `Model: ${name}` });

/** Opens a new conversation from the sidebar. */
async function openNew(page, model) {
  await page.getByRole("link", { name: "New conversation" }).click();
  await modelOf(page, model).waitFor();
}

export async function a_first_key_can_be_used_for_new_conversations(context) {
  const page = await openForm(context);
  await enter(page, "Mistral", GOOD);
  await page.getByRole("dialog", { name: "Use Mistral for new conversations?" }).getByText("mistral:mistral-large-latest").waitFor();
  await answerProposal(page, "Use it for new conversations");
  await page.getByText("New conversations use mistral:mistral-large-latest.").waitFor();
  await openNew(page, "mistral-large-latest");
  await (await sendAndWait(page, "Hello")).getByText("I am the inspector").first().waitFor(); // the fake host's answer
  await page.reload();
  await openNew(page, "mistral-large-latest");
  await page.goto(new URL("/settings", page.url()).href);
  await page.getByRole("button", { name: "Use the server’s choice" }).click();
  await modelOf(page, "Inspector").or(page.getByRole("button", { name: /conversations: Inspector/ })).first().waitFor();
}

// thorough
export async function the_question_after_a_first_key_is_accessible(context) {
  const page = await openForm(context);
  await enter(page, "Mistral", GOOD);
  await page.getByRole("dialog", { name: "Use Mistral for new conversations?" }).waitFor();
  await checkAccessibility(page, 2);
}

// thorough
export async function a_new_conversation_has_the_model_that_was_used_last(context) {
  const page = await context.visit("/", { on: "fresh" });
  await modelOf(page, "anthropic:claude-sonnet-5-5").waitFor(); // by the key in the environment
  await page.getByRole("button", { name: "Model:" }).click();
  await page.getByRole("dialog").getByRole("button", { name: /^qwen\/qwen3.6-27b/ }).click();
  await sendAndWait(page, "Hello");
  await openNew(page, "qwen/qwen3.6-27b");
  await page.reload();
  await modelOf(page, "qwen/qwen3.6-27b").waitFor();
}

// thorough
export async function with_a_key_the_inspectors_note_leads_to_the_list_of_models(context) {
  const page = await openForm(context);
  await enter(page, "Mistral", GOOD);
  await answerProposal(page, "Keep the inspector");
  await openNew(page, "Inspector");
  await page.getByText("For a real model, choose another one in the list of models.").waitFor();
  await eventually(async () => assert.equal(await page.getByText("enter its key").count(), 0));
}

export async function a_key_is_tested_stored_and_deleted(context) {
  context.allow(/status of 422/);
  const page = await openForm(context);
  await enter(page, "Mistral", "sk-wrong-0123456789");
  const alert = page.getByRole("alert").filter({ hasText: "Nothing was stored" });
  await alert.waitFor();
  await eventually(async () => assert.ok(!(await alert.textContent()).includes("sk-wrong")));
  await enter(page, "Mistral", GOOD);
  await page.getByText("The key for Mistral works and is stored.").waitFor();
  await answerProposal(page, "Keep the inspector");
  await rowOf(page, "Mistral").getByText(/Key for everyone, .*20\d\d/).waitFor();
  await eventually(async () => assert.ok(!(await page.content()).includes(GOOD)));
  await page.getByRole("button", { name: "Delete the key for Mistral" }).click();
  const question = page.getByRole("dialog", { name: "Delete the key for Mistral?" });
  await question.getByText("for everyone on this server").waitFor();
  await question.getByRole("button", { name: "Keep", exact: true }).click();
  await page.getByRole("button", { name: "Delete the key for Mistral" }).click();
  await question.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByText("The key for Mistral is deleted.").waitFor();
  await page.getByRole("button", { name: "Enter a key for Mistral" }).waitFor();
}

// thorough
export async function the_models_of_a_key_can_be_chosen_at_once(context) {
  const page = await openForm(context);
  await enter(page, "Mistral", GOOD);
  await page.getByText("The key for Mistral works and is stored.").waitFor();
  await answerProposal(page, "Keep the inspector");
  await page.getByRole("link", { name: "New conversation" }).click();
  await page.getByRole("button", { name: "Model:" }).click();
  await page.getByRole("dialog").getByRole("button", { name: /^mistral-large-latest/ }).click();
  const answer = await sendAndWait(page, "Hello");
  await eventually(async () => assert.match(await answer.textContent(), /I am the inspector/));
}

export async function a_missing_key_leads_to_the_settings(context) {
  context.allow(/status of 422/);
  const page = await context.visit("/", { on: "scratch" });
  const refused = { error: { kind: "MissingKey", text: "mistral needs a key: set MISTRAL_API_KEY" } };
  await page.route("**/api/chat", (route) => route.fulfill({ status: 422, json: refused }));
  await send(page, "Hello");
  const alert = page.getByRole("alert").filter({ hasText: "mistral needs a key" });
  await alert.getByText("What you wrote is back in the box.").waitFor();
  await alert.getByRole("link", { name: "in the settings" }).click();
  await page.getByRole("heading", { name: "Keys of providers" }).waitFor();
}

export async function a_key_is_entered_by_keyboard_and_not_kept_in_the_browser(context) {
  const page = await context.visit("/settings", { on: "scratch" });
  const opener = page.getByRole("button", { name: /(Enter a|Replace the) key for Groq/ });
  await opener.focus();
  await page.keyboard.press("Enter");
  await page.keyboard.type("sk-half-typed-0123456789");
  const stored = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }));
  assert.ok(!stored.includes("half-typed"));
  await checkAccessibility(page, context.input.displays ?? 2);
  await page.keyboard.press("Escape");
  await opener.waitFor();
}

export async function a_user_without_the_right_sees_who_may_enter_keys(context) {
  const page = await context.visit("/settings", { on: "accounts", extraHTTPHeaders: { authorization: "Bearer emil" } });
  await page.getByText("Only an administrator may enter keys on this server.").waitFor();
  await eventually(async () => assert.equal(await page.getByRole("button", { name: /key for/ }).count(), 0));
  await eventually(async () => assert.ok(!(await page.locator(".keys").textContent()).includes("127.0.0.1")));
}
