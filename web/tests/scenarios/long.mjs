// Long scenarios, run by `make stress` only.
import { box, idOf, questions, say, SERVER_GONE } from "../doing.mjs";

export async function a_page_whose_server_died_in_mid_answer_works_with_the_next(scene) {
  scene.allow(...SERVER_GONE);
  const page = await scene.visit("/", { on: "program" });
  await say(page, "/take_time");
  await page.getByText("a quarter is done").waitFor();
  await idOf(page);
  await scene.ask("restart");
  await page.getByText(/The connection is lost/).first().waitFor({ state: "detached" });
  await page.reload();
  await questions(page).getByText("/take_time").waitFor();
  await scene.until("the run is over, or taken over", async () => {
    const there = await scene.get(page, `/api/conversations/${await idOf(page)}`);
    return !there.running || there.messages.length === 2;
  });
  await box(page).waitFor();
}
