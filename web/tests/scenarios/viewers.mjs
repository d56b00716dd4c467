// The dialogs over a conversation and the way back from them; order and size of files; the matrix.
import { fileURLToPath } from "node:url";
import { PHONE } from "../accessibility_check.mjs";
import {
  leaveDialogs, waitForAnswer, answers, sendAndWait, assert, messageBox, waitForImages, conversationId, userMessages, send, textsOf,
eventually } from "../actions.mjs";
import { attach, imageFile, textFile, tray } from "../attachments.mjs";

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="100"><circle cx="50" cy="50" r="40" fill="red"/><script>__pwned()</script></svg>';
const svgFile = (name) => ({ name, mimeType: "image/svg+xml", buffer: Buffer.from(SVG) });
const viewer = (page) => page.getByRole("dialog", { name: "Pictures of this conversation" });
const panel = (page) => page.getByRole("dialog", { name: "What the model saw" });
const widthOf = (locator) => locator.evaluate((element) => element.naturalWidth);

// thorough
export async function an_svg_is_rendered_and_its_source_can_be_shown(context) {
  const page = await context.visit("/");
  await attach(page, svgFile("circle.svg"));
  await sendAndWait(page, "What is this?");
  const figure = userMessages(page).getByRole("figure", { name: "text 1: circle.svg" });
  await waitForImages(context, figure);
  await eventually(async () => assert.equal(await widthOf(figure.locator("img")), 320));
  await figure.getByText("Source", { exact: true }).click();
  await figure.getByText('<circle cx="50"').waitFor();
  await figure.getByRole("button", { name: "Open text 1 in full" }).click();
  await waitForImages(context, viewer(page));
  await eventually(async () => assert.ok((await widthOf(viewer(page).locator(".viewer-picture"))) > 320, "the viewer renders it larger"));
  const sources = await page.locator("img").evaluateAll((images) => images.map((image) => image.src));
  assert.ok(!sources.some((source) => source.includes("/content")), "the page never shows the SVG itself, only its rendering");
}

// thorough
export async function back_closes_dialogs_before_it_leaves_the_conversation(context) {
  const page = await context.visit("/");
  const answer = await sendAndWait(page, "/gdrive_display_image name=red");
  const address = `/c/${await conversationId(page)}`;
  const checkPath = () => assert.equal(new URL(page.url()).pathname, address);
  await answer.getByRole("button", { name: /What the model saw/ }).click();
  await panel(page).getByRole("button", { name: /^Open what was sent: / }).click();
  await viewer(page).waitFor();
  for (const dialog of [viewer(page), panel(page)]) {
    await context.until("the dialog has its history entry", () => page.evaluate(() => history.state > 0));
    await page.goBack();
    await dialog.waitFor({ state: "detached" });
    checkPath();
  }
  await page.getByRole("button", { name: "Open image 1 in full" }).first().click();
  await viewer(page).waitFor();
  await page.keyboard.press("Escape");
  await viewer(page).waitFor({ state: "detached" });
  await leaveDialogs(page);
  checkPath();
}

// thorough
export async function a_link_in_the_drawer_navigates_and_back_returns_to_the_conversation(context) {
  const page = await context.visit("/", { viewport: { width: 390, height: 844 } });
  await sendAndWait(page, "Hello");
  const id = await conversationId(page);
  await page.getByRole("button", { name: /list|menu|conversations/i }).first().click();
  await page.getByRole("navigation", { name: "Conversations" }).getByRole("link", { name: "What models see" }).click();
  await page.getByText(/^\d+ families of models$/).waitFor();
  await page.goBack();
  await eventually(async () => assert.equal(await conversationId(page), id));
  await answers(page).first().waitFor();
  await eventually(async () => assert.equal(await page.locator(".side-open").count(), 0));
}

// thorough
export async function files_are_in_number_order_and_leave_room_for_the_question(context) {
  const page = await context.visit("/");
  const large = await page.evaluate(() => {
    const canvas = Object.assign(document.createElement("canvas"), { width: 1200, height: 800 });
    return canvas.toDataURL().split(",")[1];
  });
  const first = { name: "one.png", mimeType: "image/png", buffer: Buffer.from(large, "base64") };
  await attach(page, first, textFile("two.txt", "words\n".repeat(40)), imageFile("three.png"), imageFile("four.png"));
  await sendAndWait(page, "What are these?");
  await userMessages(page).getByRole("list", { name: "2 images" }).waitFor();
  const badges = userMessages(page).locator(".file-badge");
  await context.until("all files are shown", async () => (await badges.count()) === 4);
  await eventually(async () => assert.deepEqual(await textsOf(badges), ["image 1", "text 2", "image 3", "image 4"]));
  await waitForImages(context, userMessages(page).getByRole("figure", { name: "image 1: one.png" }));
  await userMessages(page).locator(".file-scroll").waitFor();
  for (const preview of await userMessages(page).locator(".file-picture, .file-scroll").all())
    await eventually(async () => assert.ok((await preview.boundingBox()).height <= 204, await preview.innerText()));
}

// thorough
export async function a_document_opens_at_its_first_page_without_a_keyboard(context) {
  const page = await context.visit("/", { viewport: PHONE });
  const guide = fileURLToPath(new URL("../../../src/showandtell/samples/guide.pdf", import.meta.url));
  await attach(page, guide);
  await sendAndWait(page, "Read it");
  await page.getByRole("button", { name: /^Open .*guide\.pdf/ }).click();
  const pdf = page.getByRole("dialog", { name: /guide\.pdf/ });
  const pages = pdf.getByRole("region", { name: "Pages" });
  await waitForImages(context, pages); // its pages are wide, so that all three are in view
  await eventually(async () => assert.equal(await pdf.getByRole("spinbutton", { name: "Page" }).inputValue(), "1"));
  await eventually(async () => assert.ok(await pages.evaluate((region) => region === document.activeElement)));
}

// thorough
export async function two_pictures_can_be_compared_and_a_part_of_one_attached(context) {
  const page = await context.visit("/");
  await attach(page, imageFile("one.png"), imageFile("two.png"), imageFile("three.png"));
  await sendAndWait(page, "Which is brighter?");
  await userMessages(page).getByRole("button", { name: "Open image 1 in full" }).click();
  const press = (name) => viewer(page).getByRole("button", { name }).click();
  const shown = () => viewer(page).locator(".viewer-picture").evaluateAll((images) => images.map((image) => image.alt));
  await press("Side by side with another");
  await viewer(page).getByText("image 1: one.png beside image 2: two.png").waitFor();
  await press("Next picture");
  await waitForImages(context, viewer(page));
  await eventually(async () => assert.deepEqual(await shown(), ["image 1: one.png", "image 3: three.png"]));
  await press("Side by side with another");
  await eventually(async () => assert.deepEqual(await shown(), ["image 1: one.png"]));
  await viewer(page).getByRole("button", { name: "Zoom in to attach a part" }).waitFor();
  for (let step = 0; step < 9; step += 1) await page.keyboard.press("+");
  await press("Attach the part in view");
  await viewer(page).waitFor({ state: "detached" });
  await tray(page).getByText("one-part.png").waitFor();
  await sendAndWait(page, "And this part?");
  await userMessages(page).getByRole("figure", { name: "image 4: one-part.png" }).waitFor();
}

// thorough
export async function the_panel_explains_missing_files_and_its_evidence(context) {
  const page = await context.visit("/");
  const plain = await sendAndWait(page, "Hello");
  await plain.getByRole("button", { name: /What the model saw/ }).click();
  await panel(page).getByText("No new files").waitFor();
  await eventually(async () => assert.equal(await panel(page).getByText("What these words mean").count(), 0));
  await page.keyboard.press("Escape");
  await panel(page).waitFor({ state: "detached" });
  const answer = await sendAndWait(page, "/gdrive_display_image name=red");
  await answer.getByRole("button", { name: /What the model saw/ }).click();
  const evidence = panel(page).locator(".receipts-known").first();
  await evidence.getByText(/recorded in another library’s tests/).waitFor();
  await eventually(async () => assert.equal(await evidence.getByText(/test_/).isVisible(), false));
  await evidence.getByText("which").click();
  await evidence.getByText(/test_/).waitFor();
  await evidence.getByRole("link", { name: "What this model sees" }).click();
  await page.getByRole("searchbox", { name: "Find a provider or model" }).waitFor();
  await page.goBack();
  await answers(page).first().waitFor();
}

// thorough
export async function the_matrix_fits_the_window(context) {
  const page = await context.visit("/matrix");
  await page.getByText(/^\d+ families of models$/).waitFor();
  for (const width of [1280, 1100, 1440]) {
    await page.setViewportSize({ width, height: 800 });
    await page.locator(".matrix-table, .matrix-cards").first().waitFor();
    const fits = () => page.locator(".matrix").evaluate((element) => element.scrollWidth <= element.clientWidth);
    await context.until(`the matrix fits at ${width}`, fits); // a new width may turn the table into cards
  }
}

// thorough
export async function the_matrix_names_its_evidence_in_german(context) {
  const page = await context.visit("/matrix", { locale: "de-DE" });
  await page.getByText("alle anderen", { exact: true }).first().waitFor();
  await page.getByText(/^aufgezeichnet, Dokumentation, \d\d\.\d\d\.20\d\d$/).first().waitFor();
}
