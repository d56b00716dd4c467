// Diagrams in answers: drawn in a sandbox without network, shown as images.
import { answers, assert, send, sendAndWait, eventually } from "../actions.mjs";

const FENCE = "```";
const block = (...lines) => `${FENCE}mermaid\n${lines.join("\n")}\n${FENCE}`;
const opener = (parent) => parent.getByRole("button", { name: "Open the diagram in full" });
const isLoaded = (image) => image.evaluate((element) => element.complete && element.naturalWidth > 0);

// thorough
export async function a_diagram_is_drawn_and_shows_its_source(context) {
  const page = await context.visit("/", { on: "echo" });
  const answer = await sendAndWait(page, `Say: ${block("flowchart LR", "  accTitle: How it starts", "  A[Start] --> B{Ready?}")}`);
  const image = opener(answer).getByRole("img");
  await image.waitFor();
  await eventually(async () => assert.equal(await image.getAttribute("alt"), "How it starts"));
  await context.until("the image is loaded", () => isLoaded(image));
  await answer.getByRole("button", { name: "Show the source" }).click();
  await eventually(async () => assert.match(await answer.locator(".code pre").innerText(), /A\[Start\] --> B/));
  await answer.getByRole("button", { name: "Show the source" }).click();
  await opener(answer).click();
  await page.getByRole("dialog", { name: "Pictures of this conversation" }).getByRole("img", { name: "How it starts" }).waitFor();
}

// thorough
export async function a_diagram_is_drawn_when_its_block_is_complete(context) {
  const page = await context.visit("/", { on: "echo" });
  await send(page, `Say: ${FENCE}mermaid\nflowchart LR\nA --> B⏸\nB --> C\n${FENCE}\n\nThen⏸ more.`);
  const answer = answers(page).last();
  await answer.locator(".code pre").getByText("A --> B").waitFor();
  assert.equal(page.frames().length, 1); // nothing of mermaid is loaded yet
  await context.call("resume");
  await opener(answer).waitFor();
  await eventually(async () => assert.doesNotMatch(await answer.innerText(), /more/));
  await context.call("resume");
}

// thorough
export async function a_diagram_follows_light_and_dark(context) {
  const page = await context.visit("/", { on: "echo", colorScheme: "light" });
  const answer = await sendAndWait(page, `Say: ${block("flowchart LR", "A --> B")}`);
  const image = opener(answer).getByRole("img");
  await image.waitFor();
  const light = await image.getAttribute("src");
  await page.emulateMedia({ colorScheme: "dark" });
  await context.until("it is drawn again", async () => (await image.getAttribute("src")) !== light && isLoaded(image));
}

/** Scripts, handlers, links and addresses in every place that a diagram has for texts. */
const HOSTILE = [
  block('%%{init: {"securityLevel": "loose", "htmlLabels": true, "flowchart": {"htmlLabels": true}}}%%', "flowchart LR",
    'A["<img src=x onerror=__pwned(1)>"] --> B["<script>__pwned(2)</script>"]', 'click A "javascript:__pwned(3)"', "click B call __pwned(4)"),
  block('%%{init: {"themeCSS": "* { background: url(https://example.com/leak) } @import url(https://example.com/more);"}}%%', "flowchart LR", "A --> B"),
  block("sequenceDiagram", "participant A", 'links A: {"x": "javascript:__pwned(5)"}', 'A->>A: <iframe src="https://example.com"></iframe>'),
  block("flowchart LR", 'A@{ img: "https://example.com/leak.png", label: "x" } --> B'),
]; // prettier-ignore

export async function a_hostile_diagram_runs_and_loads_nothing(context) {
  const page = await context.visit("/", { on: "echo" });
  // Both are blocked. A connection to another host would still fail the scenario.
  context.allow(/Content Security Policy/, /requested another host: https:\/\/example\.com\/leak/);
  const answer = await sendAndWait(page, `Say: ${HOSTILE.join("\n\n")}\n\n${block("flowchart LR", "A --> B")}`);
  await context.until("each is drawn or has failed", async () => {
    const failed = await answer.getByText("Diagram that can’t be drawn").count();
    return (await opener(answer).count()) + failed === HOSTILE.length + 1;
  });
  // A diagram that took too long has closed its frame.
  await opener(await sendAndWait(page, `Say: ${block("flowchart LR", "C --> D")}`)).waitFor();
  const [, frame] = page.frames();
  const reached = await frame.evaluate(async () => {
    const fails = (work) => Promise.resolve().then(work).then(() => false, () => true);
    const script = document.body.appendChild(document.createElement("script"));
    script.textContent = "window.ran = true";
    return [await fails(() => parent.document), await fails(() => document.cookie), await fails(() => localStorage), origin, window.ran];
  });
  assert.deepEqual(reached, [true, true, true, "null", undefined]);
}

// thorough
export async function a_diagram_that_never_ends_leaves_the_page_usable(context) {
  const page = await context.visit("/", { on: "echo" });
  const arrow = block("flowchart LR", "A --> B");
  await opener(await sendAndWait(page, `Say: ${arrow}`)).waitFor();
  const [, frame] = page.frames();
  frame.evaluate(() => setTimeout(() => { while (true); })).catch(() => {}); // prettier-ignore
  const long = block("flowchart LR", `A["${"words ".repeat(10_000)}"]`);
  const answer = await sendAndWait(page, `Say: ${arrow}\n\n${long}\n\n${block("flowchart LR", "C --> D")}`);
  await opener(answer).waitFor();
  await eventually(async () => assert.equal(await answer.getByText("Diagram that can’t be drawn").count(), 2));
  assert.equal(page.frames().length, 2);
  await sendAndWait(page, "Say: still here");
}
