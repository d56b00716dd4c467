// Each kind of page is accessible, in light and dark mode, in the size of a desktop and of a phone.
import { checkAccessibility, DESKTOP } from "../accessibility_check.mjs";
import { waitForAnswer, sendAndWait, messageBox, send } from "../actions.mjs";
import { imageFile, attach, fileInput, textFile } from "../attachments.mjs";

// thorough
export async function the_start_page_is_accessible(context) {
  const page = await context.visit("/");
  await page.getByRole("button", { name: "Draw a chart" }).waitFor();
  await checkAccessibility(page, context.input.displays ?? 2);
}

export async function a_conversation_is_accessible(context) {
  const page = await context.visit("/");
  await attach(page, imageFile("dot.png"), textFile("notes.csv", "name,size\nred,4\n"));
  await sendAndWait(page, "What came?");
  await sendAndWait(page, "/gdrive_display_image name=red\n/gdrive_display_image name=blue");
  const answer = await sendAndWait(page, "/break_down");
  await answer.locator("summary").first().click();
  await send(page, "/send_money amount=3");
  await page.getByRole("group", { name: "May send_money run?" }).waitFor();
  await checkAccessibility(page, context.input.displays ?? 2);
}

// thorough
export async function rendered_markdown_is_accessible(context) {
  const page = await context.visit("/", { on: "echo" });
  const markdown = "# Head\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- [ ] one\n- [x] two\n\n```js\nlet a = 1;\n```\n\n> said\n\n[there](https://example.org)";
  await sendAndWait(page, `Say: <think>thoughts</think>${markdown}`);
  await page.locator(".prose table").waitFor();
  await fileInput(page).setInputFiles({ name: "huge.bin", mimeType: "application/zip", buffer: Buffer.alloc(3_000_001) });
  await page.getByText(/Send a smaller one/).first().waitFor();
  await checkAccessibility(page, context.input.displays ?? 2);
}

// thorough
export async function the_panel_of_received_files_is_accessible(context) {
  const page = await context.visit("/");
  await page.getByRole("button", { name: "Read a PDF page by page" }).click();
  const answer = await waitForAnswer(page, 1);
  await answer.getByRole("button", { name: /What the model saw/ }).click();
  await page.getByRole("dialog", { name: "What the model saw" }).getByText("How we know:").first().waitFor();
  await checkAccessibility(page, context.input.displays ?? 2);
}

// thorough
export async function the_viewers_are_accessible(context) {
  const page = await context.visit("/");
  await page.getByRole("button", { name: "Read a PDF page by page" }).click();
  await waitForAnswer(page, 1);
  await page.getByRole("button", { name: "Open document 1, guide.pdf" }).click();
  await page.getByRole("dialog", { name: "document 1: guide.pdf" }).getByRole("img", { name: "Page 1" }).waitFor();
  await checkAccessibility(page, context.input.displays ?? 2);
  await page.keyboard.press("Escape");
  await page.setViewportSize(DESKTOP);
  await attach(page, imageFile("dot.png"));
  await sendAndWait(page, "What came?");
  await page.getByRole("button", { name: "Open image 2 in full" }).click();
  await page.getByRole("dialog", { name: "Pictures of this conversation" }).waitFor();
  await checkAccessibility(page, context.input.displays ?? 2);
}

// thorough
export async function the_matrix_is_accessible(context) {
  const page = await context.visit("/matrix");
  await page.getByText(/^\d+ families of models$/).waitFor();
  await page.getByRole("searchbox", { name: "Find a provider or model" }).fill("gemini-3-flash-preview");
  await page.getByText(/^\d+ of \d+ families$/).waitFor();
  await checkAccessibility(page, context.input.displays ?? 2);
}

// thorough
export async function the_settings_and_the_model_picker_are_accessible(context) {
  const page = await context.visit("/settings");
  await page.getByRole("textbox", { name: "Instructions" }).waitFor();
  await checkAccessibility(page, context.input.displays ?? 2);
  await page.locator(".settings .model").click();
  await page.getByRole("searchbox", { name: "Search models" }).waitFor();
  await checkAccessibility(page, context.input.displays ?? 2);
}

// thorough
export async function error_pages_are_accessible(context) {
  context.allow(/status of 404/);
  const page = await context.visit("/c/conv_0123456789abcdefABCDEF");
  await page.getByRole("button", { name: "Start a new conversation" }).waitFor();
  await checkAccessibility(page, context.input.displays ?? 2);
}
