// Files: attaching, showing, referring to them and deleting them.
import { waitForAnswer, answers, sendAndWait, assert, messageBox, waitForImages, conversationId, userMessages, send, eventually } from "../actions.mjs";
import { docFile, acceptAllFiles, drop, paste, attach, fileInput, imageFile, textFile, tray, waitForUploads } from "../attachments.mjs";

export async function a_chosen_file_is_sent_with_the_message_and_a_removed_one_is_not(context) {
  const page = await context.visit("/");
  await attach(page, textFile("other.txt", "The harbour opens at nine."), textFile("notes.txt", "The harbour opens at seven."));
  await tray(page).getByText("notes.txt").waitFor();
  await tray(page).getByRole("button", { name: "Remove other.txt" }).click();
  const answer = await sendAndWait(page, "When does the harbour open?");
  await eventually(async () => assert.match(await answer.innerText(), /seven/));
  await userMessages(page).getByRole("figure", { name: "text 1: notes.txt" }).waitFor();
  await eventually(async () => assert.equal(await userMessages(page).getByRole("figure").count(), 1));
  await eventually(async () => assert.equal(await tray(page).count(), 0, "nothing is left for the next message"));
}

// thorough
export async function dropped_and_pasted_files_are_attached(context) {
  const page = await context.visit("/");
  await drop(page, imageFile("one.png"), imageFile("two.png"));
  await waitForUploads(page);
  await eventually(async () => assert.equal(await tray(page).getByRole("listitem").count(), 2));
  await eventually(async () => assert.equal(await page.getByText("Drop files to attach them").count(), 0));
  await paste(page, imageFile("image.png"));
  await waitForUploads(page);
  await tray(page).locator(".file-name", { hasText: "pasted-1.png" }).waitFor();
}

// thorough
export async function an_upload_shows_progress_and_can_be_cancelled(context) {
  const page = await context.visit("/");
  const network = await page.context().newCDPSession(page);
  const slow = { offline: false, latency: 5, downloadThroughput: -1, uploadThroughput: 200_000 };
  await network.send("Network.emulateNetworkConditions", slow);
  await fileInput(page).setInputFiles({ name: "long.txt", mimeType: "text/plain", buffer: Buffer.alloc(3_000_000, "words ") });
  await tray(page).getByText(/^[\d.]+ (kB|MB) of 3\.0 MB$/).waitFor();
  await eventually(async () => assert.equal(await page.getByRole("button", { name: "Send", exact: true }).isEnabled(), false));
  await tray(page).getByRole("button", { name: "Cancel long.txt" }).click();
  await tray(page).waitFor({ state: "detached" });
}

// thorough
export async function a_file_over_the_limit_is_refused_before_upload(context) {
  const page = await context.visit("/", { on: "echo" });
  const requested = [];
  page.on("request", (request) => requested.push(new URL(request.url()).pathname));
  await fileInput(page).setInputFiles({ name: "huge.bin", mimeType: "application/zip", buffer: Buffer.alloc(3_000_001) });
  await tray(page).getByText(/3\.0 MB.*Send a smaller one\./).waitFor();
  assert.equal(requested.includes("/api/attachments"), false);
  await tray(page).getByRole("button", { name: "Remove huge.bin" }).click();
  await tray(page).waitFor({ state: "detached" });
}

// thorough
export async function a_damaged_file_is_refused_with_a_message(context) {
  const page = await context.visit("/");
  context.allow(/status of 422/);
  await fileInput(page).setInputFiles({ ...imageFile("torn.png"), buffer: imageFile("x").buffer.subarray(0, 40) });
  await tray(page).locator(".tray-problem").waitFor();
  await eventually(async () => assert.match(await tray(page).innerText(), /torn\.png/));
  await eventually(async () => assert.equal(await page.getByRole("button", { name: "Send", exact: true }).isEnabled(), false));
}

export async function a_draft_and_its_files_survive_a_reload(context) {
  const page = await context.visit("/");
  await messageBox(page).fill("not yet sent");
  await attach(page, imageFile("kept.png"));
  await page.reload();
  await eventually(async () => assert.equal(await messageBox(page).inputValue(), "not yet sent"));
  await tray(page).getByText("kept.png").waitFor();
  await sendAndWait(page, "What is this?");
  await userMessages(page).getByRole("figure", { name: "image 1: kept.png" }).waitFor();
}

// thorough
export async function a_picture_opens_in_full_size_and_zooms(context) {
  const page = await context.visit("/");
  await attach(page, imageFile("dot.png"));
  await sendAndWait(page, "What is this?");
  await userMessages(page).getByRole("button", { name: "Open image 1 in full" }).click();
  const viewer = page.getByRole("dialog", { name: "Pictures of this conversation" });
  await waitForImages(context, viewer);
  await context.until("the picture is larger", async () => {
    await page.keyboard.press("+"); // the first press may come before the viewer listens
    return /scale\((1\.[1-9]|[2-9])/.test((await viewer.locator(".viewer-picture").getAttribute("style")) ?? "");
  });
  await page.keyboard.press("Escape");
  await viewer.waitFor({ state: "detached" });
}

// thorough
export async function a_document_opens_page_by_page(context) {
  const page = await context.visit("/");
  await page.getByRole("button", { name: "Read a PDF page by page" }).click();
  await waitForAnswer(page, 1);
  await waitForImages(context, userMessages(page)); // the server draws one after the other
  await userMessages(page).getByRole("button", { name: "Open document 1, guide.pdf" }).click();
  const viewer = page.getByRole("dialog", { name: "document 1: guide.pdf" });
  await viewer.getByRole("img", { name: "Page 1" }).waitFor();
  await waitForImages(context, viewer);
  const [saved] = await Promise.all([page.waitForEvent("download"), viewer.getByRole("link", { name: "Download guide.pdf" }).click()]);
  assert.equal(saved.suggestedFilename(), "guide.pdf");
}

// thorough
export async function a_file_number_in_a_text_links_to_the_file(context) {
  const page = await context.visit("/");
  await sendAndWait(page, "/gdrive_display_image name=red");
  const answer = await sendAndWait(page, "What is image 1, and is there an image 9?");
  await answer.getByRole("link", { name: "image 1" }).first().click();
  const figure = page.getByRole("figure", { name: "image 1: red.png" });
  await context.until("the file has the focus", () => figure.evaluate((element) => element === document.activeElement));
  await eventually(async () => assert.equal(await userMessages(page).last().getByRole("link", { name: "image 9" }).count(), 0, "there is no such file"));
}

// thorough
export async function an_at_sign_suggests_files_and_inserts_their_number(context) {
  const page = await context.visit("/");
  await sendAndWait(page, "/gdrive_display_image name=red");
  await sendAndWait(page, "/gdrive_display_image name=blue");
  await messageBox(page).pressSequentially("compare @");
  const suggestions = page.getByRole("listbox", { name: "Files of this conversation" });
  await eventually(async () => assert.deepEqual(await suggestions.getByRole("option").locator("strong").allInnerTexts(), ["image 2", "image 1"]));
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await messageBox(page).pressSequentially("with #2");
  await page.keyboard.press("Tab");
  await eventually(async () => assert.equal(await messageBox(page).inputValue(), "compare image 1 with image 2 "));
}

// thorough
export async function a_badge_inserts_its_reference_into_the_message(context) {
  const page = await context.visit("/");
  const answer = await sendAndWait(page, "/gdrive_display_image name=red");
  await messageBox(page).fill("describe");
  await answer.getByRole("button", { name: "image 1: write it in your message" }).click();
  await eventually(async () => assert.equal((await messageBox(page).inputValue()).trim(), "describe image 1"));
}

// thorough
export async function a_file_placed_by_the_model_is_shown_once(context) {
  const page = await context.visit("/", { on: "echo" });
  await attach(page, imageFile("dot.png"));
  const answer = await sendAndWait(page, "Say: Look:\n\n![a red dot](file:1)\n\nThat was it. ![none](file:7)");
  await waitForImages(context, answer);
  await eventually(async () => assert.equal(await answer.getByRole("figure").count(), 1));
  const text = await answer.innerText();
  assert.match(text, /Look:[^]*a red dot[^]*That was it/);
  assert.match(text, /\[picture: none\]/);
}

// thorough
export async function pictures_of_parallel_calls_are_in_number_order(context) {
  const page = await context.visit("/");
  await send(page, "/gdrive_display_image name=red\n/gdrive_display_image name=green\n/gdrive_display_image name=blue");
  const answer = await waitForAnswer(page, 1);
  await waitForImages(context, answer);
  const badges = await answer.locator(".file-badge").allInnerTexts();
  assert.deepEqual(badges, ["image 1", "image 2", "image 3"]);
  await eventually(async () => assert.equal(await answers(page).count(), 1));
}

// thorough
export async function a_refused_file_can_be_removed_by_editing_the_message(context) {
  const page = await context.visit("/");
  await acceptAllFiles(page);
  await attach(page, docFile("old.doc"), imageFile("dot.png"));
  const refused = await sendAndWait(page, "What are these?");
  await refused.getByText(/choose another model, or edit the message and leave the file out\./).waitFor();
  await page.reload();
  await answers(page).getByText(/can't be shown document 1 \(old\.doc\)/).waitFor();
  await userMessages(page).hover();
  await page.getByRole("button", { name: "Edit your message" }).click();
  await page.getByRole("button", { name: "Leave old.doc out" }).click();
  await page.keyboard.press("Enter");
  await userMessages(page).getByText("2/2").waitFor();
  const answer = await waitForAnswer(page);
  await eventually(async () => assert.match(await answer.innerText(), /dot\.png/));
  await eventually(async () => assert.equal(await userMessages(page).getByText("old.doc").count(), 0));
}

// thorough
export async function a_file_number_links_to_a_file_that_is_not_rendered_yet(context) {
  const page = await context.visit("/", { on: "echo" });
  await attach(page, imageFile("first.png"));
  const lines = Array.from({ length: 60 }, (_, index) => `line ${index}`).join("\n\n");
  for (let count = 0; count < 3; count++) await sendAndWait(page, `Say: ${lines}`);
  await sendAndWait(page, "Say: as image 1 shows");
  await page.reload(); // parts far above are not rendered after a reload
  await answers(page).last().getByRole("link", { name: "image 1" }).click();
  const figure = page.getByRole("figure", { name: "image 1: first.png" });
  await context.until("the file is in view, and stays there", async () => {
    const tops = [];
    for (let check = 0; check < 5; check++) tops.push(Math.round((await figure.boundingBox()).y));
    return tops.every((top) => top === tops[0] && top > 0 && top < 700);
  });
}

const confirmation = (page) => page.getByRole("dialog", { name: "Delete this file?" });

export async function a_file_is_deleted_and_its_name_and_number_stay(context) {
  const page = await context.visit("/");
  await attach(page, imageFile("dot.png"));
  const answer = await sendAndWait(page, "/gdrive_display_image name=red");
  await page.getByRole("button", { name: "Delete red.png" }).click();
  await confirmation(page).getByRole("button", { name: "Keep", exact: true }).click();
  await waitForImages(context, answer);
  for (const name of ["red.png", "dot.png"]) {
    await page.getByRole("button", { name: `Delete ${name}` }).click();
    await confirmation(page).getByRole("button", { name: "Delete", exact: true }).click();
    await confirmation(page).waitFor({ state: "detached" });
  }
  for (const state of ["deleted", "reloaded"]) {
    if (state === "reloaded") await page.reload();
    for (const [parent, name] of [[userMessages(page), "image 1: dot.png"], [answers(page), "image 2: red.png"]])
      await parent.getByRole("figure", { name }).getByText("This file was deleted.").waitFor();
    await eventually(async () => assert.equal(await page.getByRole("button", { name: /^Delete (red|dot).png/ }).count(), 0, state));
  }
  const { attachments } = await context.get(page, `/api/conversations/${await conversationId(page)}`);
  assert.deepEqual(attachments.map((file) => file.state), ["deleted", "deleted"]);
  await answers(page).last().getByRole("button", { name: /What the model saw/ }).click();
  await page.getByRole("dialog", { name: "What the model saw" }).getByText("It has been deleted.").first().waitFor();
}

// thorough
export async function a_picture_can_be_deleted_in_the_viewer(context) {
  const page = await context.visit("/");
  await attach(page, imageFile("one.png"), imageFile("two.png"));
  await sendAndWait(page, "What are these?");
  await page.getByRole("button", { name: "Open image 2 in full" }).click();
  await page.getByRole("dialog", { name: "Pictures of this conversation" }).getByRole("button", { name: "Delete" }).click();
  await confirmation(page).getByText("two.png").waitFor();
  await confirmation(page).getByRole("button", { name: "Delete", exact: true }).click();
  await userMessages(page).getByText("This file was deleted.").waitFor();
  await userMessages(page).getByRole("button", { name: "Open image 1 in full" }).waitFor();
}

/** Plays and pauses by the space key: browsers play nothing without a user's action. */
async function checkPlayback(context, player) {
  await player.focus();
  await player.press("Space");
  await context.until("it plays", () => player.evaluate((element) => element.currentTime > 0.2 && !element.paused));
  await player.press("Space");
  await eventually(async () => assert.equal(await player.evaluate((element) => element.paused), true));
}

// thorough
export async function audio_and_video_play_and_csv_is_shown_as_a_table(context) {
  const page = await context.visit("/");
  const { audio, video } = await context.call("media");
  const file = (name, mimeType, data) => ({ name, mimeType, buffer: Buffer.from(data, "base64") });
  const table = file("sizes.csv", "text/csv", btoa('name,size\n"red, dark",4\nblue,7\n'));
  await attach(page, file("tone.wav", "audio/wav", audio), file("still.mp4", "video/mp4", video), table);
  await sendAndWait(page, "What came?");
  const shown = userMessages(page).last();
  await checkPlayback(context, shown.locator("audio"));
  await checkPlayback(context, shown.locator("video"));
  await eventually(async () => assert.equal(Math.round(await shown.locator("audio").evaluate((element) => element.duration)), 5));
  await shown.getByRole("cell", { name: "blue" }).waitFor();
  await eventually(async () => assert.deepEqual(await shown.getByRole("columnheader").allInnerTexts(), ["name", "size"]));
  await eventually(async () => assert.deepEqual(await shown.getByRole("cell").allInnerTexts(), ["red, dark", "4", "blue", "7"]));
}
