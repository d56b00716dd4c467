// What is looked at over a conversation, and how it is left again; files in their order and their size.
import { answered, answers, ask, assert, box, drawn, idOf, questions, say, wordsOf } from "../doing.mjs";
import { pick, picture, text } from "../giving.mjs";

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="100"><circle cx="50" cy="50" r="40" fill="red"/><script>__pwned()</script></svg>';
const drawing = (name) => ({ name, mimeType: "image/svg+xml", buffer: Buffer.from(SVG) });
const viewer = (page) => page.getByRole("dialog", { name: "Pictures of this conversation" });
const panel = (page) => page.getByRole("dialog", { name: "What the model saw" });
const widthOf = (place) => place.evaluate((one) => one.naturalWidth);

export async function a_drawing_is_seen_and_its_source_is_one_click_away(scene) {
  const page = await scene.visit("/");
  await pick(page, drawing("circle.svg"));
  await ask(page, "What is this?");
  const figure = questions(page).getByRole("figure", { name: "text 1: circle.svg" });
  await drawn(scene, figure);
  assert.equal(await widthOf(figure.locator("img")), 320);
  await figure.getByText("Source", { exact: true }).click();
  await figure.getByText('<circle cx="50"').waitFor();
  await figure.getByRole("button", { name: "Open text 1 in full" }).click();
  await drawn(scene, viewer(page));
  assert.ok((await widthOf(viewer(page).locator(".viewer-picture"))) > 320, "it is drawn larger");
  const sources = await page.locator("img").evaluateAll((all) => all.map((one) => one.src));
  assert.ok(!sources.some((one) => one.includes("/content")), "its own bytes are no picture of the page");
}

export async function back_leaves_what_lies_over_a_conversation_and_not_the_conversation(scene) {
  const page = await scene.visit("/");
  const answer = await ask(page, "/gdrive_display_image name=red");
  const address = `/c/${await idOf(page)}`;
  const isHere = () => assert.equal(new URL(page.url()).pathname, address);
  await answer.getByRole("button", { name: /What the model saw/ }).click();
  await panel(page).getByRole("button", { name: /^Open what was sent: / }).click();
  await viewer(page).waitFor();
  for (const over of [viewer(page), panel(page)]) {
    await scene.until("it has its entry", () => page.evaluate(() => history.state > 0));
    await page.goBack();
    await over.waitFor({ state: "detached" });
    isHere();
  }
  await page.getByRole("button", { name: "Open image 1 in full" }).first().click();
  await viewer(page).waitFor();
  await page.keyboard.press("Escape");
  await viewer(page).waitFor({ state: "detached" });
  await scene.until("its entry is gone", () => page.evaluate(() => !history.state));
  isHere();
}

export async function a_link_within_the_drawer_leads_away_and_back_comes_to_the_conversation(scene) {
  const page = await scene.visit("/", { viewport: { width: 390, height: 844 } });
  await ask(page, "Hello");
  const id = await idOf(page);
  await page.getByRole("button", { name: /list|menu|conversations/i }).first().click();
  await page.getByRole("navigation", { name: "Conversations" }).getByRole("link", { name: "What models see" }).click();
  await page.getByText(/^\d+ families of models$/).waitFor();
  await page.goBack();
  assert.equal(await idOf(page), id);
  await answers(page).first().waitFor();
  assert.equal(await page.locator(".side-open").count(), 0);
}

export async function files_stand_in_the_order_of_their_numbers_and_leave_room_for_the_question(scene) {
  const page = await scene.visit("/");
  const large = await page.evaluate(() => {
    const canvas = Object.assign(document.createElement("canvas"), { width: 1200, height: 800 });
    return canvas.toDataURL().split(",")[1];
  });
  const one = { name: "one.png", mimeType: "image/png", buffer: Buffer.from(large, "base64") };
  await pick(page, one, text("two.txt", "words\n".repeat(40)), picture("three.png"), picture("four.png"));
  await ask(page, "What are these?");
  await questions(page).getByRole("list", { name: "2 images" }).waitFor();
  assert.deepEqual(await wordsOf(questions(page).locator(".file-badge")), ["image 1", "text 2", "image 3", "image 4"]);
  await drawn(scene, questions(page).getByRole("figure", { name: "image 1: one.png" }));
  await questions(page).locator(".file-scroll").waitFor();
  for (const sight of await questions(page).locator(".file-picture, .file-scroll").all())
    assert.ok((await sight.boundingBox()).height <= 204, await sight.innerText());
}

export async function a_panel_without_files_says_so_and_evidence_is_told_in_words(scene) {
  const page = await scene.visit("/");
  const bare = await ask(page, "Hello");
  await bare.getByRole("button", { name: /What the model saw/ }).click();
  await panel(page).getByText("No new files").waitFor();
  assert.equal(await panel(page).getByText("What these words mean").count(), 0);
  await page.keyboard.press("Escape");
  await panel(page).waitFor({ state: "detached" });
  const answer = await ask(page, "/gdrive_display_image name=red");
  await answer.getByRole("button", { name: /What the model saw/ }).click();
  const known = panel(page).locator(".saw-known").first();
  assert.match(await known.innerText(), /recorded in another library’s tests/);
  assert.equal(await known.getByText(/test_/).isVisible(), false);
  await known.getByText("which").click();
  await known.getByText(/test_/).waitFor();
  await known.getByRole("link", { name: "What this model sees" }).click();
  await page.getByRole("searchbox", { name: "Find a provider or model" }).waitFor();
  await page.goBack();
  await answers(page).first().waitFor();
}

export async function every_column_of_the_matrix_is_seen_at_once(scene) {
  const page = await scene.visit("/matrix");
  await page.getByText(/^\d+ families of models$/).waitFor();
  for (const width of [1280, 1100, 1440]) {
    await page.setViewportSize({ width, height: 800 });
    await page.locator(".matrix-table, .matrix-cards").first().waitFor();
    const [has, needs] = await page.locator(".matrix").evaluate((one) => [one.clientWidth, one.scrollWidth]);
    assert.ok(needs <= has, `${needs} of ${has} pixels at ${width}`);
  }
}
