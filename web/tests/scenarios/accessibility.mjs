// Runs axe-core on each kind of page, in light and dark mode, in the size of a desktop and of a phone.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { waitForAnswer, sendAndWait, assert, messageBox, send } from "../actions.mjs";
import { imageFile, attach, fileInput, textFile } from "../attachments.mjs";

const axe = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const [DESKTOP, PHONE] = [{ width: 1280, height: 800 }, { width: 390, height: 844 }];
/** `make test` checks the first two, `make stress` all. */
const DISPLAYS = [
  { colorScheme: "light", viewport: DESKTOP },
  { colorScheme: "dark", viewport: PHONE },
  { colorScheme: "dark", viewport: DESKTOP },
  { colorScheme: "light", viewport: PHONE },
];

/** Rules whose result depends on the display. */
const DISPLAY_RULES = ["color-contrast", "target-size", "scrollable-region-focusable", "meta-viewport"];

/** Fails if axe finds a violation in the page's current state. */
async function checkAccessibility(page, count) {
  await page.evaluate(axe);
  const violations = [];
  for (const [index, { colorScheme, viewport }] of DISPLAYS.slice(0, count).entries()) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.setViewportSize(viewport);
    await page.evaluate(finishTransitions);
    const rules = index ? { runOnly: DISPLAY_RULES } : {};
    const report = await page.evaluate((rules) => window.axe.run(document, { resultTypes: ["violations"], ...rules }), rules);
    for (const { id, nodes } of report.violations)
      for (const { html, failureSummary } of nodes.slice(0, 3))
        violations.push(`${colorScheme} ${viewport.width}: ${id}: ${html.slice(0, 200)} ${failureSummary.split("\n")[1] ?? ""}`);
  }
  assert.equal(violations.join("\n"), "");
}

/** Finishes the transitions of colors to the other display, until none starts for three frames. */
async function finishTransitions() {
  const nextFrame = () => new Promise((next) => requestAnimationFrame(next));
  for (let quiet = 0; quiet < 3; ) {
    await nextFrame();
    const transitions = document.getAnimations().filter((animation) => animation instanceof CSSTransition);
    for (const transition of transitions) transition.finish();
    quiet = transitions.length ? 0 : quiet + 1;
  }
}

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

export async function rendered_markdown_is_accessible(context) {
  const page = await context.visit("/", { on: "echo" });
  const markdown = "# Head\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- [ ] one\n- [x] two\n\n```js\nlet a = 1;\n```\n\n> said\n\n[there](https://example.org)";
  await sendAndWait(page, `Say: <think>thoughts</think>${markdown}`);
  await page.locator(".prose table").waitFor();
  await fileInput(page).setInputFiles({ name: "huge.bin", mimeType: "application/zip", buffer: Buffer.alloc(3_000_001) });
  await page.getByText(/Send a smaller one/).first().waitFor();
  await checkAccessibility(page, context.input.displays ?? 2);
}

export async function the_panel_of_received_files_is_accessible(context) {
  const page = await context.visit("/");
  await page.getByRole("button", { name: "Compare two pictures" }).click();
  const answer = await waitForAnswer(page, 1);
  await answer.getByRole("button", { name: /What the model saw/ }).click();
  await page.getByRole("dialog", { name: "What the model saw" }).getByText("How we know:").first().waitFor();
  await checkAccessibility(page, context.input.displays ?? 2);
}

export async function the_viewers_are_accessible(context) {
  const page = await context.visit("/");
  await page.getByRole("button", { name: "Read an invoice" }).click();
  await waitForAnswer(page, 1);
  await page.getByRole("button", { name: "Open document 1, invoice.pdf" }).click();
  await page.getByRole("dialog", { name: "document 1: invoice.pdf" }).getByRole("img", { name: "Page 1" }).waitFor();
  await checkAccessibility(page, context.input.displays ?? 2);
  await page.keyboard.press("Escape");
  await page.setViewportSize(DESKTOP);
  await attach(page, imageFile("dot.png"));
  await sendAndWait(page, "What came?");
  await page.getByRole("button", { name: "Open image 2 in full" }).click();
  await page.getByRole("dialog", { name: "Pictures of this conversation" }).waitFor();
  await checkAccessibility(page, context.input.displays ?? 2);
}

export async function the_matrix_is_accessible(context) {
  const page = await context.visit("/matrix");
  await page.getByText(/^\d+ families of models$/).waitFor();
  await page.getByRole("searchbox", { name: "Find a provider or model" }).fill("gemini-3-flash-preview");
  await page.getByText(/^\d+ of \d+ families$/).waitFor();
  await checkAccessibility(page, context.input.displays ?? 2);
}

export async function the_settings_and_the_model_picker_are_accessible(context) {
  const page = await context.visit("/settings");
  await page.getByRole("textbox", { name: "Instructions" }).waitFor();
  await checkAccessibility(page, context.input.displays ?? 2);
  await page.locator(".settings .model").click();
  await page.getByRole("searchbox", { name: "Search models" }).waitFor();
  await checkAccessibility(page, context.input.displays ?? 2);
}

export async function error_pages_are_accessible(context) {
  context.allow(/status of 404/);
  const page = await context.visit("/c/conv_0123456789abcdefABCDEF");
  await page.getByRole("button", { name: "Start a new conversation" }).waitFor();
  await checkAccessibility(page, context.input.displays ?? 2);
}
