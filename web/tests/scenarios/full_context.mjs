// A conversation that is too long for the model: the page says what another answer would leave out before it does so.
import { checkAccessibility, DESKTOP } from "../accessibility_check.mjs";
import { answers, assert, conversationId, send, sendAndWait, waitForAnswer, eventually } from "../actions.mjs";
import { attach, textFile } from "../attachments.mjs";

export async function a_full_context_says_what_can_be_left_out_and_answers_again(context) {
  const page = await context.visit("/", { on: "echo" });
  await sendAndWait(page, "hello");
  await attach(page, textFile("notes.txt", "words"));
  for (const name of ["first", "second"]) await sendAndWait(page, `Say: the ${name} ${"long message ".repeat(2500)}`);
  await send(page, "Full: 25000");
  const choice = page.getByRole("region", { name: "The conversation is longer than the model takes." });
  await choice.getByText("The conversation is longer than the 25,000 tokens that the model takes.").waitFor();
  await eventually(async () => assert.equal(await page.getByRole("button", { name: "Try again" }).count(), 0)); // it would fail again
  await choice.getByText("5 messages and 1 file would be left out").click();
  await choice.getByText(/^Say: the first long message/).waitFor();
  await choice.getByText(/notes.txt/).waitFor();
  await choice.getByRole("button", { name: /^Sum them up and answer again \(reads about [\d,]+ tokens\)$/ }).waitFor();
  await checkAccessibility(page, context.input.displays ?? 2);
  const width = await page.evaluate(() => [document.querySelector(".full-context").getBoundingClientRect().right, innerWidth]);
  assert.ok(width[0] <= width[1], `it ends at ${width}`);
  await page.setViewportSize(DESKTOP);
  await page.reload(); // the choice is still there
  await choice.getByRole("button", { name: "Leave them out and answer again" }).click();
  await waitForAnswer(page);
  await answers(page).last().getByText("It fits now.").waitFor();
  await eventually(async () => assert.equal(await choice.count(), 0));
  const { settings } = await context.get(page, `/api/conversations/${await conversationId(page)}`);
  assert.equal(settings.on_full, "drop_oldest");
  await sendAndWait(page, "Full: 25000"); // without a question this time
  await answers(page).last().getByText("It fits now.").waitFor();
  await page.getByText("Here only: Leave the oldest messages out").click();
  await eventually(async () => assert.equal(await page.getByRole("combobox", { name: /too long for the model/ }).inputValue(), "drop_oldest"));
}
