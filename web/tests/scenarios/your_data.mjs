// All conversations at once, in the settings: exported, deleted, imported again.
import { checkAccessibility } from "../accessibility_check.mjs";
import { assert, sendAndWait, eventually } from "../actions.mjs";

const as = (id) => ({ on: "accounts", extraHTTPHeaders: { authorization: `Bearer ${id}` } });

async function talk(context, page, ...texts) {
  for (const text of texts) {
    await page.getByRole("link", { name: "New conversation" }).click();
    await sendAndWait(page, text);
  }
  await page.getByRole("link", { name: "Settings" }).click();
  await context.until("all are counted", async () => (await page.getByText(`${texts.length} conversation`).count()) > 0);
}

async function exportAll(page, folder) {
  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: "Export everything" }).click();
  const saved = await download;
  assert.match(saved.suggestedFilename(), /^showandtell-20\d\d-\d\d-\d\d\.zip$/);
  await saved.saveAs(`${folder}/all.zip`);
  return `${folder}/all.zip`;
}

async function deleteAll(page, which) {
  await page.getByRole("button", { name: "Delete everything" }).click();
  const dialog = page.getByRole("dialog", { name: `Delete ${which}` });
  await dialog.getByRole("button", { name: "Delete everything" }).click();
  const note = page.locator(".toast", { hasText: "All of your conversations are deleted." });
  await note.getByRole("button").click();
  await note.waitFor({ state: "detached" });
}

export async function everything_is_exported_deleted_and_imported_again(context) {
  const page = await context.visit("/settings", { on: "scratch" });
  if ((await context.get(page, "/api/files/use")).conversations) await deleteAll(page, "");
  await talk(context, page, "The first of three", "The second of three", "The third of three");
  const path = await exportAll(page, context.input.folder);
  await deleteAll(page, "all 3 conversations");
  await context.until("the list is empty", async () => (await page.getByRole("link", { name: /of three/ }).count()) === 0);
  await page.locator('input[type="file"]').setInputFiles(path);
  await page.getByText("3 conversations imported").waitFor();
  await page.getByRole("link", { name: "The third of three", exact: true }).first().waitFor();
  await page.locator('input[type="file"]').setInputFiles(path);
  await page.getByText(/No conversation imported.*3 were here already/).waitFor();
  await checkAccessibility(page, context.input.displays ?? 2);
}

// thorough
export async function a_file_that_is_no_export_is_named_with_the_reason(context) {
  context.allow(/status of 422/);
  const page = await context.visit("/settings", as("kim"));
  const files = [
    { name: "notes.zip", mimeType: "application/zip", buffer: Buffer.from("not a zip file") },
    { name: "photo.zip", mimeType: "application/zip", buffer: Buffer.from("PK\x03\x04 broken") },
  ];
  await page.locator('input[type="file"]').setInputFiles(files);
  await page.getByText(/No conversation imported.*2 could not be imported/).waitFor();
  const failed = await page.locator(".data-failed").innerText();
  assert.match(failed, /notes\.zip this is not a zip file/);
  assert.match(failed, /photo\.zip .*is damaged/);
}

// thorough
export async function everything_is_deleted_by_keyboard_after_a_question(context) {
  const page = await context.visit("/", as("lea"));
  await talk(context, page, "The first of two", "The second of two");
  const button = page.getByRole("button", { name: "Delete everything" });
  await button.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await eventually(async () => assert.equal((await context.get(page, "/api/files/use")).conversations, 2));
  await deleteAll(page, "all 2 conversations");
  await eventually(async () => assert.equal((await context.get(page, "/api/files/use")).conversations, 0));
}
