// Two conversations from start to end, run with each API.
import { answers, sendAndWait, assert, waitForImages, conversationId, userMessages, eventually } from "../actions.mjs";
import { attach } from "../attachments.mjs";

const file = ({ name, media_type, data }) => ({ name, mimeType: media_type, buffer: Buffer.from(data, "base64") });

export async function a_document_is_read_by_the_model_and_quoted(context) {
  const page = await context.visit("/", { on: context.input.site });
  await attach(page, file(context.input.document));
  const answer = await sendAndWait(page, "What is the total of this invoice?");
  await answer.getByText("get_document", { exact: true }).waitFor();
  await eventually(async () => assert.match(await answer.innerText(), new RegExp(context.input.quote)));
  await userMessages(page).getByRole("figure", { name: /^document 1: / }).waitFor();
  await answer.getByRole("button", { name: /What the model saw/ }).click();
  const panel = page.getByRole("dialog", { name: "What the model saw" });
  await panel.getByRole("heading", { name: /^Step 2/ }).waitFor();
  await panel.getByText("invoice.pdf").first().waitFor();
  context.result = { id: await conversationId(page) };
}

export async function pictures_keep_their_numbers_across_uploads_tools_and_a_reload(context) {
  const page = await context.visit("/", { on: context.input.site });
  await attach(page, ...context.input.uploads.map(file));
  await sendAndWait(page, "Here are two of mine.");
  const shown = await sendAndWait(page, ["red", "green", "blue"].map((color) => `/gdrive_display_image name=${color}`).join("\n"));
  await waitForImages(context, shown);
  await eventually(async () => assert.deepEqual(await shown.locator(".file-badge").allInnerTexts(), ["image 3", "image 4", "image 5"]));
  await eventually(async () => assert.match(await shown.innerText(), /green\.png/));
  await page.reload();
  await waitForImages(context, answers(page).nth(1));
  const compared = await sendAndWait(page, "compare the 2nd drive image to the 1st upload");
  await eventually(async () => assert.match(await compared.innerText(), /image 4/i));
  const last = await sendAndWait(page, "lets look at 5");
  await eventually(async () => assert.match(await last.innerText(), /image 5/i));
  await page.reload();
  await answers(page).nth(3).waitFor();
  const badges = answers(page).nth(1).locator(".file-badge");
  await eventually(async () => assert.deepEqual(await badges.allTextContents(), ["image 3", "image 4", "image 5"]));
  await eventually(async () => assert.deepEqual([await userMessages(page).count(), await answers(page).count()], [4, 4]));
  context.result = { id: await conversationId(page) };
}
