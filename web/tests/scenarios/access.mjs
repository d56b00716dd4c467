// axe-core over each kind of page, light and dark, on a desk and on a phone.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { answered, ask, assert, box, say } from "../doing.mjs";
import { picture, pick, picker, text } from "../giving.mjs";

const axe = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const [DESK, PHONE] = [{ width: 1280, height: 800 }, { width: 390, height: 844 }];
/** `make test` checks the first two, `make stress` all. */
const LOOKS = [
  { colorScheme: "light", viewport: DESK },
  { colorScheme: "dark", viewport: PHONE },
  { colorScheme: "dark", viewport: DESK },
  { colorScheme: "light", viewport: PHONE },
];

/** The rules that can fail in one look and not in another. */
const CHANGING = ["color-contrast", "target-size", "scrollable-region-focusable", "meta-viewport"];

/** What axe finds in each look of a page, which is as it is now. */
async function examine(page, looks) {
  await page.evaluate(axe);
  const found = [];
  for (const [at, { colorScheme, viewport }] of LOOKS.slice(0, looks).entries()) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.setViewportSize(viewport);
    await page.evaluate(settle);
    const only = at ? { runOnly: CHANGING } : {};
    const { violations } = await page.evaluate((own) => window.axe.run(document, { resultTypes: ["violations"], ...own }), only);
    for (const { id, nodes } of violations)
      for (const { html, failureSummary } of nodes.slice(0, 3))
        found.push(`${colorScheme} ${viewport.width}: ${id}: ${html.slice(0, 200)} ${failureSummary.split("\n")[1] ?? ""}`);
  }
  assert.equal(found.join("\n"), "");
}

/** Colours change over to those of the other look: what counts is where they end. */
async function settle() {
  const nextFrame = () => new Promise((next) => requestAnimationFrame(next));
  await nextFrame();
  for (const one of document.getAnimations()) if (one instanceof CSSTransition) one.finish();
  await nextFrame();
}

export async function nothing_is_wrong_with_the_greeting(scene) {
  const page = await scene.visit("/");
  await page.getByRole("button", { name: "Draw a chart" }).waitFor();
  await examine(page, scene.given.looks ?? 2);
}

export async function nothing_is_wrong_with_a_conversation(scene) {
  const page = await scene.visit("/");
  await pick(page, picture("dot.png"), text("notes.csv", "name,size\nred,4\n"));
  await ask(page, "What came?");
  await ask(page, "/gdrive_display_image name=red\n/gdrive_display_image name=blue");
  const answer = await ask(page, "/break_down");
  await answer.locator("summary").first().click();
  await say(page, "/send_money amount=3");
  await page.getByRole("group", { name: "May send_money run?" }).waitFor();
  await examine(page, scene.given.looks ?? 2);
}

export async function nothing_is_wrong_with_written_words(scene) {
  const page = await scene.visit("/", { on: "spoken" });
  const words = "# Head\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- [ ] one\n- [x] two\n\n```js\nlet a = 1;\n```\n\n> said\n\n[there](https://example.org)";
  await ask(page, `Say: <think>thoughts</think>${words}`);
  await page.locator(".prose table").waitFor();
  await picker(page).setInputFiles({ name: "huge.bin", mimeType: "application/zip", buffer: Buffer.alloc(3_000_001) });
  await page.getByText(/Send a smaller one/).first().waitFor();
  await examine(page, scene.given.looks ?? 2);
}

export async function nothing_is_wrong_with_the_panel_of_what_the_model_saw(scene) {
  const page = await scene.visit("/");
  await page.getByRole("button", { name: "Compare two pictures" }).click();
  const answer = await answered(page, 1);
  await answer.getByRole("button", { name: /What the model saw/ }).click();
  await page.getByRole("dialog", { name: "What the model saw" }).getByText("How we know:").first().waitFor();
  await examine(page, scene.given.looks ?? 2);
}

export async function nothing_is_wrong_with_the_viewers(scene) {
  const page = await scene.visit("/");
  await page.getByRole("button", { name: "Read an invoice" }).click();
  await answered(page, 1);
  await page.getByRole("button", { name: "Open document 1, invoice.pdf" }).click();
  await page.getByRole("dialog", { name: "document 1: invoice.pdf" }).getByRole("img", { name: "Page 1" }).waitFor();
  await examine(page, scene.given.looks ?? 2);
  await page.keyboard.press("Escape");
  await page.setViewportSize(DESK);
  await pick(page, picture("dot.png"));
  await ask(page, "What came?");
  await page.getByRole("button", { name: "Open image 2 in full" }).click();
  await page.getByRole("dialog", { name: "Pictures of this conversation" }).waitFor();
  await examine(page, scene.given.looks ?? 2);
}

export async function nothing_is_wrong_with_the_matrix(scene) {
  const page = await scene.visit("/matrix");
  await page.getByText(/^\d+ families of models$/).waitFor();
  await page.getByRole("searchbox", { name: "Find a provider or model" }).fill("gemini-3-flash-preview");
  await page.getByText(/^\d+ of \d+ families$/).waitFor();
  await examine(page, scene.given.looks ?? 2);
}

export async function nothing_is_wrong_with_the_settings_and_the_choice_of_models(scene) {
  const page = await scene.visit("/settings");
  await page.getByRole("textbox", { name: "Instructions" }).waitFor();
  await examine(page, scene.given.looks ?? 2);
  await page.locator(".settings .model").click();
  await page.getByRole("searchbox", { name: "Search models" }).waitFor();
  await examine(page, scene.given.looks ?? 2);
}

export async function nothing_is_wrong_with_pages_that_say_no(scene) {
  scene.allow(/status of 404/);
  const page = await scene.visit("/c/conv_0123456789abcdefABCDEF");
  await page.getByRole("button", { name: "Start a new conversation" }).waitFor();
  await examine(page, scene.given.looks ?? 2);
}
