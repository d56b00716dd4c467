// Files: how they come in, how they are seen, and how one speaks of them.
import { answered, answers, ask, assert, box, drawn, idOf, questions, say } from "../doing.mjs";
import { archive, believe, drop, paste, pick, picker, picture, text, tray, uploaded } from "../giving.mjs";

export async function a_file_of_the_picker_goes_with_the_message(scene) {
  const page = await scene.visit("/");
  await pick(page, text("notes.txt", "The harbour opens at seven."));
  await tray(page).getByText("notes.txt").waitFor();
  const answer = await ask(page, "When does the harbour open?");
  assert.match(await answer.innerText(), /seven/);
  await questions(page).getByRole("figure", { name: "text 1: notes.txt" }).waitFor();
  assert.equal(await tray(page).count(), 0, "nothing is left for the next message");
}

export async function dropped_files_are_attached(scene) {
  const page = await scene.visit("/");
  await drop(page, picture("one.png"), picture("two.png"));
  await uploaded(page);
  assert.equal(await tray(page).getByRole("listitem").count(), 2);
  assert.equal(await page.getByText("Drop files to attach them").count(), 0);
}

export async function a_pasted_picture_gets_a_name_and_words_stay_words(scene) {
  const page = await scene.visit("/");
  await paste(page, { ...picture("image.png") });
  await uploaded(page);
  await tray(page).locator(".file-name", { hasText: "pasted-1.png" }).waitFor();
}

export async function an_upload_tells_how_far_it_is_and_can_be_cancelled(scene) {
  const page = await scene.visit("/");
  const network = await page.context().newCDPSession(page);
  const slow = { offline: false, latency: 5, downloadThroughput: -1, uploadThroughput: 200_000 };
  await network.send("Network.emulateNetworkConditions", slow);
  await picker(page).setInputFiles({ name: "long.txt", mimeType: "text/plain", buffer: Buffer.alloc(3_000_000, "words ") });
  await tray(page).getByText(/^[\d.]+ (kB|MB) of 3\.0 MB$/).waitFor();
  assert.equal(await page.getByRole("button", { name: "Send", exact: true }).isEnabled(), false);
  await tray(page).getByRole("button", { name: "Cancel long.txt" }).click();
  await tray(page).waitFor({ state: "detached" });
}

export async function a_file_that_is_too_large_is_refused_before_a_byte_is_sent(scene) {
  const page = await scene.visit("/", { on: "spoken" });
  const asked = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await picker(page).setInputFiles({ name: "huge.bin", mimeType: "application/zip", buffer: Buffer.alloc(3_000_001) });
  await tray(page).getByText(/3\.0 MB.*Send a smaller one\./).waitFor();
  assert.equal(asked.includes("/api/attachments"), false);
  await tray(page).getByRole("button", { name: "Remove huge.bin" }).click();
  await tray(page).waitFor({ state: "detached" });
}

export async function a_file_that_is_broken_is_refused_in_words(scene) {
  const page = await scene.visit("/");
  scene.allow(/status of 422/);
  await picker(page).setInputFiles({ ...picture("torn.png"), buffer: picture("x").buffer.subarray(0, 40) });
  await tray(page).locator(".tray-problem").waitFor();
  assert.match(await tray(page).innerText(), /torn\.png/);
  assert.equal(await page.getByRole("button", { name: "Send", exact: true }).isEnabled(), false);
}

export async function what_is_attached_outlives_a_reload(scene) {
  const page = await scene.visit("/");
  await pick(page, picture("kept.png"));
  await page.reload();
  await tray(page).getByText("kept.png").waitFor();
  await ask(page, "What is this?");
  await questions(page).getByRole("figure", { name: "image 1: kept.png" }).waitFor();
}

export async function a_picture_opens_in_full_and_grows(scene) {
  const page = await scene.visit("/");
  await pick(page, picture("dot.png"));
  await ask(page, "What is this?");
  await questions(page).getByRole("button", { name: "Open image 1 in full" }).click();
  const viewer = page.getByRole("dialog", { name: "Pictures of this conversation" });
  await drawn(scene, viewer);
  await scene.until("it is larger", async () => {
    await page.keyboard.press("+"); // the first may come before the viewer listens
    return /scale\((1\.[1-9]|[2-9])/.test((await viewer.locator(".viewer-picture").getAttribute("style")) ?? "");
  });
  await page.keyboard.press("Escape");
  await viewer.waitFor({ state: "detached" });
}

export async function a_document_opens_page_by_page(scene) {
  const page = await scene.visit("/");
  await page.getByRole("button", { name: "Read an invoice" }).click();
  await answered(page, 1);
  await drawn(scene, questions(page)); // the server draws one after the other
  await questions(page).getByRole("button", { name: "Open document 1, invoice.pdf" }).click();
  const viewer = page.getByRole("dialog", { name: "document 1: invoice.pdf" });
  await viewer.getByRole("img", { name: "Page 1" }).waitFor();
  await drawn(scene, viewer);
  const [saved] = await Promise.all([page.waitForEvent("download"), viewer.getByRole("link", { name: "Download invoice.pdf" }).click()]);
  assert.equal(saved.suggestedFilename(), "invoice.pdf");
}

export async function a_number_in_the_text_leads_to_the_file(scene) {
  const page = await scene.visit("/");
  await ask(page, "/gdrive_display_image name=red");
  const answer = await ask(page, "What is image 1, and is there an image 9?");
  await answer.getByRole("link", { name: "image 1" }).first().click();
  const figure = page.getByRole("figure", { name: "image 1: red.png" });
  await scene.until("the file has the focus", () => figure.evaluate((one) => one === document.activeElement));
  assert.equal(await questions(page).last().getByRole("link", { name: "image 9" }).count(), 0, "there is no such file");
}

export async function at_offers_the_files_and_writes_their_number(scene) {
  const page = await scene.visit("/");
  await ask(page, "/gdrive_display_image name=red");
  await ask(page, "/gdrive_display_image name=blue");
  await box(page).pressSequentially("compare @");
  const offers = page.getByRole("listbox", { name: "Files of this conversation" });
  assert.deepEqual(await offers.getByRole("option").locator("strong").allInnerTexts(), ["image 2", "image 1"]);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await box(page).pressSequentially("with #2");
  await page.keyboard.press("Tab");
  assert.equal(await box(page).inputValue(), "compare image 1 with image 2 ");
}

export async function a_badge_writes_its_reference_into_the_message(scene) {
  const page = await scene.visit("/");
  const answer = await ask(page, "/gdrive_display_image name=red");
  await box(page).fill("describe");
  await answer.getByRole("button", { name: "image 1: write it in your message" }).click();
  assert.equal((await box(page).inputValue()).trim(), "describe image 1");
}

export async function the_model_places_a_file_in_its_text_and_it_stands_there_once(scene) {
  const page = await scene.visit("/", { on: "spoken" });
  await pick(page, picture("dot.png"));
  const answer = await ask(page, "Say: Look:\n\n![a red dot](file:1)\n\nThat was it. ![none](file:7)");
  await drawn(scene, answer);
  assert.equal(await answer.getByRole("figure").count(), 1);
  const text = await answer.innerText();
  assert.match(text, /Look:[^]*a red dot[^]*That was it/);
  assert.match(text, /\[picture: none\]/);
}

export async function several_pictures_of_tools_stand_in_the_answer_by_number(scene) {
  const page = await scene.visit("/");
  await say(page, "/gdrive_display_image name=red\n/gdrive_display_image name=green\n/gdrive_display_image name=blue");
  const answer = await answered(page, 1);
  await drawn(scene, answer);
  const badges = await answer.locator(".file-badge").allInnerTexts();
  assert.deepEqual(badges, ["image 1", "image 2", "image 3"]);
  assert.equal(await answers(page).count(), 1);
}

export async function a_file_that_the_model_cannot_be_shown_is_left_out_of_the_message(scene) {
  const page = await scene.visit("/");
  await believe(page);
  await pick(page, archive("stuff.zip"), picture("dot.png"));
  const refused = await ask(page, "What are these?");
  await refused.getByText(/choose another model, or edit the message and leave the file out\./).waitFor();
  await page.reload();
  await answers(page).getByText(/can't be shown file 1 \(stuff\.zip\)/).waitFor();
  await questions(page).hover();
  await page.getByRole("button", { name: "Edit your message" }).click();
  await page.getByRole("button", { name: "Leave stuff.zip out" }).click();
  await page.keyboard.press("Enter");
  await questions(page).getByText("2/2").waitFor();
  const answer = await answered(page);
  assert.match(await answer.innerText(), /dot\.png/);
  assert.equal(await questions(page).getByText("stuff.zip").count(), 0);
}

export async function a_number_leads_to_a_file_far_above(scene) {
  const page = await scene.visit("/", { on: "spoken" });
  await pick(page, picture("first.png"));
  const lines = Array.from({ length: 60 }, (_, at) => `line ${at}`).join("\n\n");
  for (let turn = 0; turn < 3; turn++) await ask(page, `Say: ${lines}`);
  await ask(page, "Say: as image 1 shows");
  await page.reload(); // what is far above was never drawn
  await answers(page).last().getByRole("link", { name: "image 1" }).click();
  const figure = page.getByRole("figure", { name: "image 1: first.png" });
  await scene.until("the file is in view, and stays there", async () => {
    const tops = [];
    for (let look = 0; look < 5; look++) tops.push(Math.round((await figure.boundingBox()).y));
    return tops.every((top) => top === tops[0] && top > 0 && top < 700);
  });
}

const question = (page) => page.getByRole("dialog", { name: "Delete this file?" });

export async function a_file_is_deleted_and_its_name_and_number_stay(scene) {
  const page = await scene.visit("/");
  await pick(page, picture("dot.png"));
  const answer = await ask(page, "/gdrive_display_image name=red");
  await page.getByRole("button", { name: "Delete red.png" }).click();
  await question(page).getByRole("button", { name: "Keep it" }).click();
  await drawn(scene, answer);
  for (const name of ["red.png", "dot.png"]) {
    await page.getByRole("button", { name: `Delete ${name}` }).click();
    await question(page).getByRole("button", { name: "Delete", exact: true }).click();
    await question(page).waitFor({ state: "detached" });
  }
  for (const look of ["deleted", "loaded"]) {
    if (look === "loaded") await page.reload();
    for (const [place, named] of [[questions(page), "image 1: dot.png"], [answers(page), "image 2: red.png"]])
      await place.getByRole("figure", { name: named }).getByText("This file was deleted.").waitFor();
    assert.equal(await page.getByRole("button", { name: /^Delete (red|dot).png/ }).count(), 0, look);
  }
  const { attachments } = await scene.get(page, `/api/conversations/${await idOf(page)}`);
  assert.deepEqual(attachments.map((one) => one.state), ["deleted", "deleted"]);
  await answers(page).last().getByRole("button", { name: /What the model saw/ }).click();
  await page.getByRole("dialog", { name: "What the model saw" }).getByText("It has been deleted.").first().waitFor();
}

export async function one_of_several_pictures_is_deleted_where_it_is_seen_in_full(scene) {
  const page = await scene.visit("/");
  await pick(page, picture("one.png"), picture("two.png"));
  await ask(page, "What are these?");
  await page.getByRole("button", { name: "Open image 2 in full" }).click();
  await page.getByRole("dialog", { name: "Pictures of this conversation" }).getByRole("button", { name: "Delete" }).click();
  await question(page).getByText("two.png").waitFor();
  await question(page).getByRole("button", { name: "Delete", exact: true }).click();
  await questions(page).getByText("This file was deleted.").waitFor();
  await questions(page).getByRole("button", { name: "Open image 1 in full" }).waitFor();
}

/** Pressing space is what a person does: a browser plays nothing by itself. */
async function plays(scene, player) {
  await player.focus();
  await player.press("Space");
  await scene.until("it plays", () => player.evaluate((one) => one.currentTime > 0.2 && !one.paused));
  await player.press("Space");
  assert.equal(await player.evaluate((one) => one.paused), true);
}

export async function sounds_and_films_play_and_a_table_is_one(scene) {
  const page = await scene.visit("/");
  const { sound, film } = await scene.ask("media");
  const file = (name, mimeType, data) => ({ name, mimeType, buffer: Buffer.from(data, "base64") });
  const table = file("sizes.csv", "text/csv", btoa('name,size\n"red, dark",4\nblue,7\n'));
  await pick(page, file("tone.wav", "audio/wav", sound), file("still.mp4", "video/mp4", film), table);
  await ask(page, "What came?");
  const shown = questions(page).last();
  await plays(scene, shown.locator("audio"));
  await plays(scene, shown.locator("video"));
  assert.equal(Math.round(await shown.locator("audio").evaluate((one) => one.duration)), 5);
  await shown.getByRole("cell", { name: "blue" }).waitFor();
  assert.deepEqual(await shown.getByRole("columnheader").allInnerTexts(), ["name", "size"]);
  assert.deepEqual(await shown.getByRole("cell").allInnerTexts(), ["red, dark", "4", "blue", "7"]);
}
