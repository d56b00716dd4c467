// Tools that the provider runs itself, and the sources of texts.
import { answers, assert, conversationId, send, sendAndWait, textsOf, userMessages, waitForAnswer, eventually } from "../actions.mjs";
import { checkAccessibility } from "../accessibility_check.mjs";
import { attach } from "../attachments.mjs";

const CALL = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "kiwi" } };
const page = (title, url) => ({ type: "web_search_result", title, url, encrypted_content: "Eq", page_age: null });
const FOUND = [page("Kiwi", "https://kiwi.example/fruit"), page("A bird", "https://birds.example/kiwi")];
const RESULT = { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: FOUND };
const RUN = { type: "server_tool_use", id: "srvtoolu_2", name: "code_execution", input: { code: "print(6 * 7)" } };
const PRINTED = { type: "code_execution_result", stdout: "42\n", stderr: "", return_code: 0, content: [] };
const RAN = { type: "code_execution_tool_result", tool_use_id: "srvtoolu_2", content: PRINTED };
const FAILED = { ...RAN, content: { type: "code_execution_tool_result_error", error_code: "unavailable" } };
const cited = (url, title, quote) => ({ type: "web_search_result_location", url, title, cited_text: quote, encrypted_index: "Eo" });
const text = (words, ...citations) => ({ type: "text", text: words, ...(citations.length ? { citations } : {}) });
const KIWI = cited("https://kiwi.example/fruit", "Kiwi", "A kiwi is a green fruit.");
const BIRD = cited("https://birds.example/kiwi", "A bird", "The kiwi can’t fly.");
const SOURCED = [text("I looked. "), text("It is **green.**", KIWI), text(" And "), text("it `flies` not", BIRD, KIWI), text(".")];

const blocks = (...items) => `Blocks: ${JSON.stringify(items)}`;
const visit = (context, settings = {}) => context.visit("/", { on: "echo", ...settings });
const card = (answer, tool) => answer.locator(".tool").filter({ hasText: tool });

// thorough
export async function what_the_provider_ran_is_shown_with_pages_and_outputs(context) {
  const tab = await visit(context);
  const answer = await sendAndWait(tab, blocks(CALL, RESULT, RUN, RAN, text("Found.")));
  for (const state of ["written", "reloaded"]) {
    if (state === "reloaded") await tab.reload();
    await waitForAnswer(tab);
    await eventually(async () => assert.match(await card(answer, "web_search").locator("summary").innerText(), /web_search\s+run by the provider\s+query: kiwi\s+done/));
    await card(answer, "web_search").locator("summary").click();
    const links = card(answer, "web_search").getByRole("link");
    await links.first().waitFor();
    await eventually(async () => assert.deepEqual(await textsOf(links), ["Kiwi", "A bird"]));
    await eventually(async () => assert.equal(await links.first().getAttribute("href"), "https://kiwi.example/fruit"));
    await eventually(async () => assert.match(await links.first().getAttribute("rel"), /noopener/));
  }
  await card(answer, "code_execution").locator("summary").click();
  await card(answer, "code_execution").getByText("print(6 * 7)", { exact: true }).waitFor();
  const texts = await textsOf(card(answer, "code_execution").locator("pre"));
  assert.deepEqual(texts.slice(0, 2), ["print(6 * 7)", "42"]);
  assert.match(texts[2], /"return_code": 0/);
}

export async function a_chart_of_the_providers_code_is_image_1_for_people_and_the_next_model(context) {
  const tab = await visit(context);
  const drawn = { ...PRINTED, stdout: "", content: [{ type: "code_execution_output", file_id: "file_chart" }] };
  const answer = await sendAndWait(tab, blocks(RUN, { ...RAN, content: drawn }, text("Here it is.")));
  for (const state of ["written", "reloaded"]) {
    if (state === "reloaded") await tab.reload();
    await waitForAnswer(tab);
    const picture = answer.getByRole("img", { name: /chart\.png/ }).first();
    await picture.waitFor();
    await answer.getByText("image 1", { exact: true }).first().waitFor();
  }
  await tab.locator("main .model").click();
  await tab.getByRole("searchbox", { name: "Search models" }).fill("gpt");
  await tab.locator(".model-row").first().click();
  const next = await sendAndWait(tab, "What is in image 1?");
  await eventually(async () => assert.match(await next.innerText(), /Image 1, chart\.png: 160 × 80 pixels, all red\./));
  await next.getByText("Details", { exact: true }).click();
  await next.getByText(/chart\.png, made by code that the provider ran/).waitFor();
  await eventually(async () => assert.match(await next.innerText(), /160 x 80 pixels[^]*red 100%/));
}

// thorough
export async function a_failed_tool_of_the_provider_says_why(context) {
  const tab = await visit(context);
  const answer = await sendAndWait(tab, blocks(RUN, FAILED));
  await card(answer, "code_execution").getByText("failed", { exact: true }).waitFor();
  await card(answer, "code_execution").locator("summary").click();
  await answer.locator(".tool-error").getByText("unavailable").waitFor();
}

// thorough
export async function a_stopped_run_does_not_leave_a_tool_of_the_provider_running(context) {
  const tab = await visit(context);
  await send(tab, blocks(text("Look."), CALL, "pause", RESULT));
  await card(answers(tab), "web_search").getByText("running").waitFor();
  await tab.getByRole("button", { name: "Stop" }).click();
  const answer = await waitForAnswer(tab, 1);
  await answer.getByText("Look.").waitFor();
  for (const state of ["stopped", "reloaded"]) {
    if (state === "reloaded") await tab.reload();
    await waitForAnswer(tab);
    await eventually(async () => assert.equal(await answer.getByText("running").count(), 0, state));
  }
}

// thorough
export async function sources_are_footnotes_to_which_marks_in_the_paragraph_lead(context) {
  const tab = await visit(context);
  const answer = await sendAndWait(tab, blocks(...SOURCED));
  for (const state of ["written", "reloaded"]) {
    if (state === "reloaded") await tab.reload();
    await waitForAnswer(tab);
    await answer.locator(".source-mark").first().waitFor();
    await eventually(async () => assert.equal((await answer.locator(".prose").innerText()).replace(/\s+/g, " ").trim(), "I looked. It is green.1 And it flies not12.", state));
    await eventually(async () => assert.equal(await answer.locator(".prose strong").innerText(), "green.", "a mark doesn't change the markdown"));
    const notes = answer.getByRole("list", { name: "Sources" }).getByRole("listitem");
    await eventually(async () => assert.deepEqual(await textsOf(notes.getByRole("link")), ["Kiwi", "A bird"]));
    await eventually(async () => assert.match(await notes.first().innerText(), /kiwi\.example[^]*A kiwi is a green fruit\./));
  }
  const mark = answer.getByRole("link", { name: "Source 2: A bird" });
  await mark.focus();
  await answer.getByRole("tooltip").getByText("The kiwi can’t fly.").waitFor();
  await tab.keyboard.press("Escape");
  await answer.getByRole("tooltip").waitFor({ state: "detached" });
  await mark.hover();
  await answer.getByRole("tooltip").getByText("birds.example").waitFor();
  await mark.press("Enter");
  await eventually(async () => assert.match(await tab.evaluate(() => document.activeElement.innerText), /^A bird/));
}

export async function a_source_that_is_no_page_of_the_web_is_no_link(context) {
  const tab = await visit(context);
  const script = cited("javascript:window.__pwned('source')", "Free money", "Click.");
  const answer = await sendAndWait(tab, blocks(text("Look.", script)));
  await answer.getByRole("list", { name: "Sources" }).getByText("Free money").waitFor();
  await eventually(async () => assert.equal(await answer.getByRole("list", { name: "Sources" }).getByRole("link").count(), 0));
}

const file = (name, mimeType, data) => ({ name, mimeType, buffer: Buffer.from(data, "base64") });

// thorough
export async function a_source_in_a_document_opens_its_page(context) {
  const tab = await visit(context);
  const { document } = await context.call("media");
  await attach(tab, file("report.pdf", "application/pdf", document));
  const place = { type: "page_location", document_index: 0, document_title: "report.pdf", cited_text: "4", start_page_number: 4, end_page_number: 5 };
  const answer = await sendAndWait(tab, blocks(text("It says four.", place)));
  const note = answer.getByRole("list", { name: "Sources" }).getByRole("listitem");
  await eventually(async () => assert.match(await note.innerText(), /^report\.pdf document 1, page 4/));
  await note.getByRole("link", { name: "report.pdf" }).click();
  const viewer = tab.getByRole("dialog", { name: "document 1: report.pdf" });
  await viewer.waitFor();
  await context.until("page 4 is in view", () =>
    viewer.evaluate((dialog) => {
      const [page, pages] = [dialog.querySelector('[data-page="4"]'), dialog.querySelector(".viewer-pages")].map((element) => element.getBoundingClientRect());
      return Math.abs(page.top - pages.top) < 60;
    }),
  );
  await eventually(async () => assert.equal(await viewer.getByRole("spinbutton", { name: "Page" }).inputValue(), "4"));
}

/** Reloads a page whose conversation is read as `change` makes it. */
async function reloadAs(tab, change) {
  const path = `/api/conversations/${await conversationId(tab)}`;
  await tab.route(`**${path}?**`, async (route) => {
    const conversation = await (await route.fetch()).json();
    change(conversation);
    await route.fulfill({ json: conversation });
  });
  await tab.reload();
  return waitForAnswer(tab);
}

// thorough
export async function a_source_in_a_recording_sets_its_player_to_the_time(context) {
  const tab = await context.visit("/");
  const { audio } = await context.call("media");
  await attach(tab, file("tone.wav", "audio/wav", audio));
  await sendAndWait(tab, "What came?");
  const answer = await reloadAs(tab, ({ messages }) => {
    const fields = { title: "A tone", number: 1, seconds: 2.5, quote: "La" };
    const part = { type: "source-document", sourceId: "1", mediaType: "audio/wav", title: "A tone", providerMetadata: { showandtell: fields } };
    messages[1].parts.push(part);
  });
  const note = answer.getByRole("list", { name: "Sources" }).getByRole("listitem");
  await eventually(async () => assert.match(await note.innerText(), /^A tone audio 1, 2\.5 s/));
  await note.getByRole("link", { name: "A tone" }).click();
  await eventually(async () => assert.equal(await userMessages(tab).locator("audio").evaluate((player) => player.currentTime), 2.5));
}

// thorough
export async function a_file_of_code_that_the_provider_ran_says_so(context) {
  const tab = await context.visit("/");
  await sendAndWait(tab, "/gdrive_display_image name=red");
  for (const [tool, words] of [["code_execution", "made by code that the provider ran"], ["image_generation", "made by image_generation that the provider ran"]]) {
    const answer = await reloadAs(tab, ({ messages, attachments }) => {
      const files = messages.flatMap(({ parts }) => parts.filter(({ type }) => type === "data-attachment").map(({ data }) => data));
      for (const each of [...attachments, ...files]) each.origin = { by: "provider", tool, call_id: "c1" };
    });
    await answer.getByText(words).waitFor();
    await tab.unroute("**/api/conversations/*");
  }
}

/** What providers return of their tools, and what people read of it. */
const SHAPES = [
  ["code_interpreter", { code: "draw()" }, [{ type: "logs", logs: "drawn" }, { type: "image", url: null }], ["draw()", "drawn", /"url": null/]],
  ["code_execution", { language: "PYTHON", code: "1 / 0" }, { outcome: "OUTCOME_FAILED", output: "Traceback" }, ["1 / 0", /PYTHON/, "Traceback", /OUTCOME_FAILED/]],
  ["file_search", { queries: ["kiwi"] }, [{ filename: "a.pdf", score: 1 }], [/"kiwi"/, /"a\.pdf"/]],
  ["wiki.ask", { question: "Why?" }, "Because.", [/"Why\?"/, "Because."]],
  ["web_fetch", {}, null, ["{}", "null"]],
];

// thorough
export async function every_output_of_a_provider_is_readable(context) {
  const tab = await context.visit("/");
  await sendAndWait(tab, "Hello");
  const answer = await reloadAs(tab, ({ messages }) => {
    messages[1].parts = SHAPES.map(([tool, input, output], index) => {
      return { type: `tool-${tool}`, toolCallId: `c${index}`, state: "output-available", input, output, providerExecuted: true };
    });
  });
  for (const [tool, , , expected] of SHAPES) {
    await card(answer, tool).first().locator("summary").click();
    await card(answer, tool).first().locator("pre").first().waitFor();
    const texts = await textsOf(card(answer, tool).first().locator("pre"));
    assert.equal(texts.length, expected.length, `${tool}: ${texts}`);
    texts.forEach((words, index) => assert.match(words, expected[index] instanceof RegExp ? expected[index] : new RegExp(`^${expected[index].replace(/\W/g, "\\$&")}$`)));
  }
}

// thorough
export async function a_mark_in_the_text_stands_where_its_words_end(context) {
  const tab = await context.visit("/");
  await sendAndWait(tab, "Hello");
  const answer = await reloadAs(tab, ({ messages }) => {
    const source = (number, end) => {
      const fields = { title: `Page ${number}`, url: `https://${number}.example`, end };
      return { type: "source-url", sourceId: `${number}`, url: fields.url, title: fields.title, providerMetadata: { showandtell: fields } };
    };
    const words = "🥝 is **green.**\n\n```\ncode\n```\n\nSee https://a.example/x and ⁅9⁆.";
    const at = (part) => [...words.slice(0, words.indexOf(part) + part.length)].length;
    const sources = [source(1, at("green.**")), source(2, at("code")), source(3, at("/x")), source(4, 10 ** 6)];
    messages[1].parts = [{ type: "text", text: words, state: "done" }, ...sources];
  });
  await answer.locator(".source-mark").first().waitFor();
  const prose = answer.locator(".prose");
  await eventually(async () => assert.match(await prose.innerText(), /🥝 is green\.1\s[^]*code\s[^]*2\s[^]*See https:\/\/a\.example\/x3 and ⁅9⁆\.4/));
  await eventually(async () => assert.equal(await prose.locator("pre").innerText(), "code\n".trim()));
  await eventually(async () => assert.equal(await prose.getByRole("link", { name: "https://a.example/x" }).getAttribute("href"), "https://a.example/x"));
}

// thorough
export async function sources_are_accessible_and_fit_a_phone(context) {
  const tab = await visit(context, { viewport: { width: 390, height: 844 } });
  const long = cited(`https://kiwi.example/${"a".repeat(200)}`, "Kiwis of the world ".repeat(12), "Green. ".repeat(80));
  const answer = await sendAndWait(tab, blocks(CALL, RESULT, ...SOURCED, text(" More.", long), RUN, RAN));
  await card(answer, "web_search").locator("summary").click();
  await card(answer, "code_execution").locator("summary").click();
  await answer.getByRole("link", { name: /Source 3/ }).focus();
  const box = await answer.getByRole("tooltip").boundingBox();
  assert.ok(box.x >= 0 && box.x + box.width <= 390, JSON.stringify(box));
  await eventually(async () => assert.equal(await tab.evaluate(() => document.documentElement.scrollWidth), 390));
  for (const state of await answer.locator(".tool-state").all()) {
    const [words, border] = [await state.boundingBox(), await answer.locator(".tool").first().boundingBox()];
    assert.ok(words.x + words.width < border.x + border.width, "the state is in the card");
  }
  await context.takeScreenshots("sources");
  await checkAccessibility(tab, context.input.displays ?? 2);
}
