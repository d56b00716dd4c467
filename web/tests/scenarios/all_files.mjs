// The files of all conversations: found, sorted, and deleted.
import { checkAccessibility, PHONE } from "../accessibility_check.mjs";
import { assert, conversationId, leaveDialogs, sendAndWait, textsOf, waitForImages, eventually } from "../actions.mjs";
import { attach, imageFile, textFile } from "../attachments.mjs";

const as = (id) => ({ on: "accounts", extraHTTPHeaders: { authorization: `Bearer ${id}` } });
const rows = (page) => page.locator(".all-files").getByRole("list", { name: "Files" }).getByRole("listitem");
const namesOf = (page) => textsOf(rows(page).locator(".a-file-name"));
const box = (page, name) => page.getByRole("checkbox", { name: `Select ${name}`, exact: true });

async function talk(page, text, ...files) {
  await page.getByRole("link", { name: "New conversation" }).click();
  await attach(page, ...files);
  await sendAndWait(page, text);
  return conversationId(page);
}

async function openFiles(context, page, count) {
  await page.getByRole("link", { name: "Files", exact: true }).click();
  await context.until("all files are listed", async () => (await rows(page).count()) === count);
}

async function startDeletion(page, ...names) {
  for (const name of names) await box(page, name).check();
  await page.locator(".all-files-bar").getByRole("button", { name: "Delete" }).click();
  return page.getByRole("dialog");
}

// thorough
export async function files_of_all_conversations_lead_to_where_they_are_used(context) {
  const page = await context.visit("/", as("mia"));
  const first = await talk(page, "The first", imageFile("dot.png"), textFile("notes.csv", "name,size\nred,4\n"));
  const second = await talk(page, "The second", imageFile("dot again.png"));
  await openFiles(context, page, 2);
  await waitForImages(context, rows(page));
  await eventually(async () => assert.match(await page.locator(".storage").innerText(), /of 50\.0 GB.* 2 files.* 2 conversations/));
  await page.getByRole("progressbar", { name: "Storage used" }).waitFor();
  await checkAccessibility(page, context.input.displays ?? 2);
  await page.getByRole("button", { name: /^and 1 more: where dot( again)?\.png is used$/ }).click();
  const places = page.getByRole("dialog").getByRole("link");
  await places.first().waitFor();
  await eventually(async () => assert.deepEqual(await textsOf(places), ["The second", "The first"]));
  await checkAccessibility(page, context.input.displays ?? 2);
  await places.last().click();
  await page.waitForURL((url) => url.pathname === `/c/${first}` && url.hash === "#file-1");
  await page.goBack();
  await page.getByRole("link", { name: "notes.csv", exact: true }).click();
  await page.waitForURL((url) => url.pathname === `/c/${first}` && url.hash === "#file-2");
  await context.until("the file has the focus", () => page.evaluate(() => document.activeElement?.id === "file-2"));
  assert.notEqual(first, second);
}

export async function files_are_deleted_in_all_conversations_after_a_question(context) {
  const page = await context.visit("/", as("nora"));
  const first = await talk(page, "The first", imageFile("dot.png"), textFile("a.csv", "a\n1\n"), textFile("b.csv", "b\n2\n"));
  const second = await talk(page, "The second", imageFile("dot.png"));
  await openFiles(context, page, 3);
  const dialog = await startDeletion(page, "dot.png", "a.csv");
  await dialog.getByText("They are shown in 2 conversations.").waitFor();
  await checkAccessibility(page, context.input.displays ?? 2);
  await dialog.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByText("2 files deleted").waitFor();
  await eventually(async () => assert.deepEqual(await namesOf(page), ["b.csv"]));
  await page.locator(".storage").getByText(/1 file\b/).waitFor();
  for (const [id, left] of [[first, ["deleted", "deleted", "ready"]], [second, ["deleted"]]]) {
    const { attachments } = await context.get(page, `/api/conversations/${id}`);
    assert.deepEqual(attachments.map((file) => file.state), left);
  }
  await leaveDialogs(page);
  await page.goto(new URL(`/c/${second}`, page.url()).href);
  await page.getByText("This file was deleted. Its number and name stay.").waitFor();
}

// thorough
export async function a_file_is_deleted_by_keyboard_alone(context) {
  const page = await context.visit("/", as("olga"));
  await talk(page, "The only one", textFile("a.csv", "a\n1\n"), textFile("b.csv", "b\n2\n"), textFile("c.csv", "c\n3\n"));
  await openFiles(context, page, 3);
  await page.getByRole("combobox", { name: "Order" }).selectOption("By name");
  await context.until("they are sorted by name", async () => (await namesOf(page)).join() === "a.csv,b.csv,c.csv");
  const isFocused = (locator) => context.until("it has the focus", () => locator.evaluate((one) => one === document.activeElement));
  await page.getByRole("checkbox", { name: "Select all" }).focus();
  await page.keyboard.press("Tab");
  await isFocused(box(page, "a.csv"));
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Space");
  await eventually(async () => assert.ok(await box(page, "b.csv").isChecked()));
  await page.keyboard.press("ArrowDown");
  await isFocused(box(page, "c.csv"));
  await page.keyboard.press("Delete");
  await page.getByRole("dialog").getByText("“c.csv” (4 bytes) is shown in 1 conversation.").waitFor();
  await page.keyboard.press("Escape");
  await isFocused(box(page, "c.csv"));
  await page.keyboard.press("Delete");
  await page.getByRole("dialog").getByRole("button", { name: "Keep", exact: true }).waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByText("1 file deleted").waitFor();
  await isFocused(page.getByRole("heading", { name: "Files", level: 1 }));
  await eventually(async () => assert.deepEqual(await namesOf(page), ["a.csv", "b.csv"]));
}

// thorough
export async function files_stay_and_stay_selected_if_their_deletion_fails(context) {
  context.allow(/status of 503/);
  const page = await context.visit("/", as("pia"));
  await talk(page, "The only one", textFile("a.csv", "a\n1\n"), textFile("b.csv", "b\n2\n"));
  await openFiles(context, page, 2);
  const busy = { status: 503, json: { error: { kind: "StorageFailed", text: "the disk is busy: try again" } } };
  await page.route("**/api/files?ids=*", (route) => route.fulfill(busy));
  const dialog = await startDeletion(page, "a.csv");
  await dialog.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByText("Not deleted: the disk is busy: try again").waitFor();
  await eventually(async () => assert.equal(await rows(page).count(), 2));
  await eventually(async () => assert.ok(await box(page, "a.csv").isChecked()));
  await page.unroute("**/api/files?ids=*");
  await page.locator(".all-files-bar").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
  await context.until("it is gone", async () => (await namesOf(page)).join() === "b.csv");
}

// thorough
export async function a_list_without_files_says_what_will_be_there(context) {
  const page = await context.visit("/files", as("rosa"));
  await page.getByText("No files yet. What you attach and what tools return is listed here.").waitFor();
  await page.getByRole("searchbox", { name: "Find files by name" }).fill("x");
  await page.getByText("No file matches.").waitFor();
  await checkAccessibility(page, context.input.displays ?? 2);
}

// thorough
export async function names_of_files_are_text_in_german_on_a_phone(context) {
  const hostile = `<img src=x onerror=__pwned()>${"ü".repeat(60)}.csv`;
  const page = await context.visit("/", { ...as("sara"), locale: "de-DE", viewport: PHONE, isMobile: true, hasTouch: true });
  await attach(page, textFile(hostile, "a\n1\n"));
  await page.locator(".composer-text").fill("<b>Titel</b>");
  await page.locator("button.send:enabled:not(.stop)").click();
  await page.locator(".answer .message-actions").waitFor();
  await page.goto(new URL("/files", page.url()).href);
  await page.getByRole("checkbox", { name: `${hostile} auswählen` }).check();
  await page.locator(".all-files-bar").getByText("1 Datei ausgewählt, 4 Byte").waitFor();
  await page.getByRole("link", { name: "<b>Titel</b>" }).first().waitFor();
  await eventually(async () => assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)));
  await page.locator(".all-files-bar").getByRole("button", { name: "Löschen" }).click();
  await page.getByRole("dialog", { name: "Diese Datei löschen?" }).getByText(/ist in 1 Unterhaltung zu sehen/).waitFor();
  await checkAccessibility(page, context.input.displays ?? 2);
}

// thorough
export async function ten_thousand_files_are_scrolled_selected_and_deleted(context) {
  await context.call("files", { owner: "tara", count: 10_001 });
  const page = await context.visit("/files", as("tara"));
  await page.getByText("More than 100 files").waitFor();
  await page.getByRole("combobox", { name: "Order" }).selectOption("Largest first");
  const talk = page.locator(".talk");
  for (let loaded = 0; loaded < 10_001; ) {
    loaded = await talk.evaluate((box) => {
      box.scrollTop = box.scrollHeight;
      return Number(document.querySelector(".all-files-list").style.getPropertyValue("--count"));
    });
    await page.evaluate(() => new Promise(requestAnimationFrame));
  }
  await page.getByText("10,001 files", { exact: true }).waitFor();
  await eventually(async () => assert.ok((await rows(page).count()) <= 40));
  const times = await watchInteractions(page);
  await rows(page).last().getByRole("checkbox").check();
  await page.getByRole("checkbox", { name: "Select all" }).click();
  await page.getByText("10,001 files selected").waitFor();
  await rows(page).last().getByRole("checkbox").uncheck();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Space");
  await page.getByText("9,999 files selected").waitFor();
  await page.getByRole("checkbox", { name: "Select all" }).click();
  await page.getByRole("checkbox", { name: "Select all" }).click();
  await page.locator(".all-files-bar").getByText("10,001 files").waitFor();
  await rows(page).last().getByRole("checkbox").press("Delete");
  await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByText("1 file deleted").waitFor();
  await eventually(async () => assert.ok((await rows(page).count()) <= 40));
  context.result = { slowest: Math.max(...(await times())), rows: await rows(page).count() };
}

/** Milliseconds from each click and key to the next frame, of those that take longer than a frame. */
async function watchInteractions(page) {
  await page.evaluate(() => {
    window.__times = [0];
    const observer = new PerformanceObserver((list) => window.__times.push(...list.getEntries().map((entry) => entry.duration)));
    observer.observe({ type: "event", durationThreshold: 16 });
  });
  return () => page.evaluate(() => window.__times);
}
