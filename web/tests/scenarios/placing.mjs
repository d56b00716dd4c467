// Files that a tool showed, and what the model writes of them: each is to be seen once, wherever its text places it.
import { answers, ask, assert, drawn } from "../doing.mjs";

/** An answer in which a tool shows image 1, and the model then says something; read anew, it must be the same. */
async function placed(scene, words) {
  const page = await scene.visit("/", { on: "spoken" });
  await ask(page, `/gdrive_display_image name=red\nThen say: ${words}`);
  for (const look of ["written", "loaded"]) {
    if (look === "loaded") await page.reload();
    const answer = answers(page).last();
    await answer.getByText("the end", { exact: true }).waitFor();
    await answer.locator(".prose:not(.prose-plain)").waitFor();
    await drawn(scene, answer);
    assert.equal(await answer.getByRole("figure", { name: "image 1: red.png" }).count(), 1, look);
  }
  return answers(page).last();
}

export async function a_file_that_is_placed_stands_there(scene) {
  const answer = await placed(scene, "Look:\n\n![the wall](file:1)\n\nthe end");
  assert.equal(await answer.locator(".prose figure").count(), 1);
}

export async function a_file_that_is_placed_twice_stands_at_the_first_place(scene) {
  const answer = await placed(scene, "![the wall](file:1)\n\n![the same wall](file:1)\n\nthe end");
  assert.match(await answer.innerText(), /image 1[^]*the wall[^]*the same wall/);
  await answer.getByRole("link", { name: "the same wall" }).waitFor();
}

export async function a_file_that_is_placed_in_a_code_block_stands_by_itself(scene) {
  const answer = await placed(scene, "```md\n![the wall](file:1)\n```\n\nthe end");
  assert.equal(await answer.locator(".prose figure").count(), 0);
}

export async function a_file_that_is_placed_in_a_line_of_code_stands_by_itself(scene) {
  await placed(scene, "Write `![the wall](file:1)` for it.\n\nthe end");
}

export async function a_file_whose_place_is_escaped_stands_by_itself(scene) {
  await placed(scene, "So: \\![the wall](file:1)\n\nthe end");
}

export async function a_file_that_thoughts_place_stands_by_itself(scene) {
  const answer = await placed(scene, "<think>![the wall](file:1)</think>the end");
  await answer.getByText("Thoughts").click();
  await answer.locator(".reasoning-text").getByText("the wall").waitFor();
  assert.equal(await answer.getByRole("figure").count(), 1);
}
