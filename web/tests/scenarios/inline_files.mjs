// Files of tools that the model places in its text by Markdown: each is shown once, wherever it is placed.
import { answers, sendAndWait, assert, waitForImages, eventually } from "../actions.mjs";

/** An answer in which a tool shows image 1 and the model then writes a text; checked again after a reload. */
async function answerWith(context, text) {
  const page = await context.visit("/", { on: "echo" });
  await sendAndWait(page, `/gdrive_display_image name=red\nThen say: ${text}`);
  for (const state of ["written", "reloaded"]) {
    if (state === "reloaded") await page.reload();
    const answer = answers(page).last();
    await answer.getByText("the end", { exact: true }).waitFor();
    await answer.locator(".prose:not(.prose-plain)").waitFor();
    await waitForImages(context, answer);
    await eventually(async () => assert.equal(await answer.getByRole("figure", { name: "image 1: red.png" }).count(), 1, state));
  }
  return answers(page).last();
}

export async function a_placed_file_is_shown_in_the_text(context) {
  const answer = await answerWith(context, "Look:\n\n![the wall](file:1)\n\nthe end");
  await eventually(async () => assert.equal(await answer.locator(".prose figure").count(), 1));
}

// thorough
export async function a_file_placed_twice_is_shown_at_the_first_place(context) {
  const answer = await answerWith(context, "![the wall](file:1)\n\n![the same wall](file:1)\n\nthe end");
  await eventually(async () => assert.match(await answer.innerText(), /the wall[^]*image 1[^]*the same wall/));
  await answer.getByRole("link", { name: "the same wall" }).waitFor();
}

// thorough
export async function a_file_placed_in_a_code_block_is_shown_outside_the_text(context) {
  const answer = await answerWith(context, "```md\n![the wall](file:1)\n```\n\nthe end");
  await eventually(async () => assert.equal(await answer.locator(".prose figure").count(), 0));
}

// thorough
export async function a_file_placed_in_inline_code_is_shown_outside_the_text(context) {
  await answerWith(context, "Write `![the wall](file:1)` for it.\n\nthe end");
}

// thorough
export async function a_file_placed_with_escaped_markup_is_shown_outside_the_text(context) {
  await answerWith(context, "So: \\![the wall](file:1)\n\nthe end");
}

// thorough
export async function a_file_placed_in_reasoning_is_shown_outside_the_text(context) {
  const answer = await answerWith(context, "<think>![the wall](file:1)</think>the end");
  await answer.getByText("Thoughts").click();
  await answer.locator(".reasoning-text").getByText("the wall").waitFor();
  await eventually(async () => assert.equal(await answer.getByRole("figure").count(), 1));
}
