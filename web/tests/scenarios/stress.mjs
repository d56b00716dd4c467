// Long scenarios that only `make stress` runs.
import { messageBox, conversationId, userMessages, send, SERVER_STOPPED_ERRORS } from "../actions.mjs";

export async function a_page_recovers_after_the_server_died_during_an_answer(context) {
  context.allow(...SERVER_STOPPED_ERRORS);
  const page = await context.visit("/", { on: "process" });
  await send(page, "/take_time");
  await page.getByText("a quarter is done").waitFor();
  await conversationId(page);
  await context.call("restart");
  await page.getByText(/The connection is lost/).first().waitFor({ state: "detached" });
  await page.reload();
  await userMessages(page).getByText("/take_time").waitFor();
  await context.until("the run is over, or taken over", async () => {
    const conversation = await context.get(page, `/api/conversations/${await conversationId(page)}`);
    return !conversation.running || conversation.messages.length === 2;
  });
  await messageBox(page).waitFor();
}
