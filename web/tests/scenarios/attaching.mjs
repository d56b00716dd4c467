// Files that are attached by their address, which the server downloads.
import { checkAccessibility, PHONE } from "../accessibility_check.mjs";
import { assert, messageBox, sendAndWait, userMessages, eventually } from "../actions.mjs";
import { tray, waitForUploads } from "../attachments.mjs";

const opener = (page) => page.getByRole("button", { name: "Attach from an address", exact: true });
const dialog = (page) => page.getByRole("dialog", { name: "Attach from an address" });
const field = (page) => dialog(page).getByRole("textbox", { name: "Address of the file" });

/** The element is closed a moment before it is gone. */
const untilClosed = (page) => page.locator("dialog").waitFor({ state: "detached" });

async function attachFrom(page, address) {
  await opener(page).click();
  await field(page).fill(address);
  await dialog(page).getByRole("button", { name: "Attach", exact: true }).click();
  await untilClosed(page);
}

/** Sooner than after the 60 seconds that a download may take. */
const untilOpen = (context, count) =>
  context.until(`${count} downloads`, async () => (await context.call("count_downloads")) === count);

export async function a_picture_at_an_address_is_an_attachment_like_any_other(context) {
  const page = await context.visit("/");
  await attachFrom(page, "https://pictures.test/red.png?size=l");
  await waitForUploads(page);
  await tray(page).getByText("red.png", { exact: true }).waitFor();
  await tray(page).locator("img").waitFor();
  await attachFrom(page, "pictures.test/plan.pdf"); // the scheme is often left out
  await waitForUploads(page);
  await page.reload();
  await tray(page).getByText("plan.pdf", { exact: true }).waitFor();
  const answer = await sendAndWait(page, "What came?");
  await userMessages(page).getByRole("button", { name: "Open image 1 in full" }).waitFor();
  await userMessages(page).getByText(/document 2/).first().waitFor();
  await answer.getByText(/40 x 30|40 × 30/).first().waitFor();
}

// thorough
export async function an_address_is_attached_by_keys_alone(context) {
  const page = await context.visit("/");
  await opener(page).focus();
  await page.keyboard.press("Enter");
  await field(page).waitFor();
  await eventually(async () => assert.ok(await field(page).evaluate((input) => input === document.activeElement), "the field has the focus"));
  await checkAccessibility(page, context.input.displays ?? 2);
  await page.keyboard.press("Escape");
  await untilClosed(page);
  await eventually(async () => assert.ok(await opener(page).evaluate((button) => button === document.activeElement), "the focus is back"));
  await page.keyboard.press("Enter");
  await field(page).waitFor();
  await page.keyboard.type("https://pictures.test/red.png");
  await page.keyboard.press("Enter");
  await waitForUploads(page);
  await eventually(async () => assert.ok(await messageBox(page).evaluate((box) => box === document.activeElement), "the message can be written"));
  await eventually(async () => assert.equal(await userMessages(page).count(), 0, "nothing was sent"));
}

// thorough
export async function a_download_shows_its_progress_on_a_phone(context) {
  const page = await context.visit("/", { viewport: PHONE, isMobile: true, hasTouch: true });
  await attachFrom(page, "https://pictures.test/slow.png");
  await untilOpen(context, 1);
  await tray(page).getByText(/^\d+ bytes of \d+ bytes$/).waitFor();
  await tray(page).getByRole("progressbar", { name: "Upload of slow.png" }).waitFor();
  await eventually(async () => assert.equal(await page.getByRole("button", { name: "Send", exact: true }).isEnabled(), false));
  await eventually(async () => assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false, "no overflow"));
  await checkAccessibility(page, context.input.displays ?? 2);
  await context.call("resume_downloads");
  await waitForUploads(page);
  await tray(page).getByRole("button", { name: "Remove slow.png" }).waitFor();
}

// thorough
export async function to_remove_a_download_is_to_cancel_it(context) {
  const page = await context.visit("/");
  await attachFrom(page, "https://pictures.test/slow.png");
  await untilOpen(context, 1);
  await tray(page).getByRole("button", { name: "Cancel slow.png" }).click();
  await tray(page).waitFor({ state: "detached" });
  await untilOpen(context, 0);
}

// thorough
export async function an_address_that_can_not_be_attached_says_why(context) {
  const page = await context.visit("/");
  await attachFrom(page, "https://pictures.test/photo.jpg");
  await tray(page).getByText(/pictures\.test sends a web page in place of the file: copy the address of the file itself/).waitFor();
  await attachFrom(page, "http://127.0.0.1:8000/api/me");
  await tray(page).getByText(/127\.0\.0\.1 is asked for without encryption: use https/).waitFor();
  await attachFrom(page, "file:///etc/passwd");
  await tray(page).getByText(/has the scheme 'file': use https/).waitFor();
  await eventually(async () => assert.equal(await tray(page).locator(".tray-problem").count(), 3));
  await checkAccessibility(page, context.input.displays ?? 2);
  await tray(page).getByRole("button", { name: "Try photo.jpg again" }).click();
  await tray(page).getByText(/sends a web page in place of the file/).waitFor();
}

// thorough
export async function a_server_that_fetches_nothing_has_no_button_for_it(context) {
  const page = await context.visit("/", { on: "echo" });
  await page.getByRole("button", { name: "Attach files" }).waitFor();
  await context.until("the limits are known", async () => (await context.get(page, "/api/me")).addresses === false);
  await sendAndWait(page, "Say: hello");
  await eventually(async () => assert.equal(await opener(page).count(), 0));
}
