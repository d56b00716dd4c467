// assistant-ui with its runtime for npm's `ai`, with a route of a program's own and with a mounted chat.
import assert from "node:assert/strict";

const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==",
  "base64",
);
const answers = (page) => page.getByRole("article", { name: "assistant" });

/** Makes messages for a model of the page's; one could go on from them. */
async function convert(page, roles) {
  const messages = await page.evaluate(() => window.convert());
  assert.deepEqual(messages.map(({ role }) => role), roles);
}

async function send(page, text) {
  await page.getByLabel("Message").fill(text);
  await page.getByRole("button", { name: "Send" }).click();
}

export async function assistant_ui_sends_its_attachments(context) {
  const page = await context.visit("/", { on: "assistant" });
  const [chooser] = await Promise.all([page.waitForEvent("filechooser"), page.getByRole("button", { name: "Attach" }).click()]);
  await chooser.setFiles([{ name: "dot.png", mimeType: "image/png", buffer: PIXEL }]);
  await page.getByText("dot.png").waitFor();
  await send(page, "What is this?");
  await answers(page).getByText(/image 1: .*png/).waitFor();
  await convert(page, ["user", "assistant"]);
}

export async function assistant_ui_shows_tools_cancels_and_sends_again(context) {
  const page = await context.visit("/", { on: "assistant" });
  await send(page, "/gdrive_display_image name=red");
  await answers(page).getByText(/complete \{"type":"file","number":1/).waitFor();
  await answers(page).getByText(/64 x 48 pixels/).waitFor();
  await send(page, "/take_time");
  await answers(page).nth(1).getByText(/^running/).waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await answers(page).nth(1).getByText(/^requires-action/).waitFor();
  await send(page, "Hello again");
  // assistant-ui writes a result of its own, which a model without a server's history gets as one of the client.
  await answers(page).nth(2).getByText(/not verified.* User cancelled tool call|call was not finished/).waitFor();
  const turn = ["user", "assistant", "tool"];
  await convert(page, [...turn, "assistant", ...turn, "user", "assistant"]);
  await context.call("release"); // the thread of the stopped call
}
