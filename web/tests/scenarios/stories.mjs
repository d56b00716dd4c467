// Two stories from beginning to end, told with each api.
import { answers, ask, assert, drawn, idOf, questions } from "../doing.mjs";
import { pick } from "../giving.mjs";

const file = ({ name, media_type, data }) => ({ name, mimeType: media_type, buffer: Buffer.from(data, "base64") });

export async function a_document_is_read_by_the_model_and_quoted(scene) {
  const page = await scene.visit("/", { on: scene.given.site });
  await pick(page, file(scene.given.document));
  const answer = await ask(page, "What is the total of this invoice?");
  await answer.getByText("get_document", { exact: true }).waitFor();
  assert.match(await answer.innerText(), new RegExp(scene.given.quote));
  await questions(page).getByRole("figure", { name: /^document 1: / }).waitFor();
  await answer.getByRole("button", { name: /What the model saw/ }).click();
  const panel = page.getByRole("dialog", { name: "What the model saw" });
  await panel.getByRole("heading", { name: /^Step 2/ }).waitFor();
  await panel.getByText("invoice.pdf").first().waitFor();
  scene.told = { id: await idOf(page) };
}

export async function pictures_keep_their_numbers_over_uploads_tools_and_a_reload(scene) {
  const page = await scene.visit("/", { on: scene.given.site });
  await pick(page, ...scene.given.uploads.map(file));
  await ask(page, "Here are two of mine.");
  const shown = await ask(page, ["red", "green", "blue"].map((one) => `/gdrive_display_image name=${one}`).join("\n"));
  await drawn(scene, shown);
  assert.deepEqual(await shown.locator(".file-badge").allInnerTexts(), ["image 3", "image 4", "image 5"]);
  assert.match(await shown.innerText(), /green\.png/);
  await page.reload();
  await drawn(scene, answers(page).nth(1));
  const compared = await ask(page, "compare the 2nd drive image to the 1st upload");
  assert.match(await compared.innerText(), /image 4/);
  const last = await ask(page, "lets look at 5");
  assert.match(await last.innerText(), /image 5/);
  await page.reload();
  await answers(page).nth(3).waitFor();
  const badges = answers(page).nth(1).locator(".file-badge");
  assert.deepEqual(await badges.allTextContents(), ["image 3", "image 4", "image 5"]);
  assert.deepEqual([await questions(page).count(), await answers(page).count()], [4, 4]);
  scene.told = { id: await idOf(page) };
}
