// A conversation that somebody else shared: who may only read it gets no button that wouldn't work.
import { answered, answers, ask, assert, idOf, questions, say } from "../doing.mjs";

const WRITING = /^(Edit your message|Answer again|Continue|Yes, run it|No|Previous branch|Next branch|Delete .*|Stop|Send)$/;

/** The same conversation as the server tells it to somebody with this right. */
async function shared(scene, page, right) {
  await page.route(`**/api/conversations/${await idOf(page)}`, async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...(await answer.json()), right } });
  });
  await page.reload();
  await answers(page).last().locator(".message-actions").waitFor();
}

async function told(scene) {
  const page = await scene.visit("/");
  await ask(page, "Hello");
  await questions(page).first().hover();
  await page.getByRole("button", { name: "Edit your message" }).click();
  await page.getByRole("textbox", { name: "Your message" }).fill("/gdrive_display_image name=red");
  await page.keyboard.press("Enter");
  await answers(page).last().getByRole("figure").waitFor();
  await answered(page);
  await say(page, "/send_money amount=50");
  await page.getByRole("group", { name: "May send_money run?" }).waitFor();
  return page;
}

export async function who_may_only_read_gets_no_button_to_write(scene) {
  const page = await told(scene);
  const count = () => page.getByRole("main").getByRole("button", { name: WRITING }).count();
  assert.ok((await count()) >= 8);
  await shared(scene, page, "reader");
  await page.getByText("This conversation was shared with you to read.").waitFor();
  await page.getByText("Waits for a decision.").waitFor();
  assert.equal(await count(), 0);
  assert.equal(await page.getByRole("button", { name: /write it in your message/ }).count(), 0);
  assert.equal(await page.locator(".bar .model").count(), 0);
  await answers(page).first().getByRole("button", { name: "Copy the answer" }).waitFor();
  await answers(page).first().getByRole("button", { name: /What the model saw/ }).waitFor();
}

export async function who_may_write_but_does_not_own_it_deletes_no_file(scene) {
  const page = await told(scene);
  await shared(scene, page, "writer");
  await page.getByRole("group", { name: "May send_money run?" }).waitFor();
  await page.getByRole("button", { name: "Edit your message" }).first().waitFor();
  assert.equal(await page.getByRole("button", { name: "Delete red.png" }).count(), 0);
}
