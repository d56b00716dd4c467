// What is read in a conversation: formulas, code in colours, tables, and files laid out together.
import { answers, assert, messageBox, sendAndWait, userMessages, eventually } from "../actions.mjs";
import { attach } from "../attachments.mjs";

const FORMULAS = String.raw`Say: Inline \(a^2 + b^2\), $c_1$ and a price of $5 or $10.

\[
\int_0^1 x^2 \, dx = \frac{1}{3}
\]

$$\sum_{k=1}^{n} k = \frac{n(n+1)}{2}$$

BACKTICK\(code\)BACKTICK stays.`.replaceAll("BACKTICK", "`");

export async function formulas_are_drawn_and_prices_are_not(context) {
  const page = await context.visit("/", { on: "echo" });
  const answer = await sendAndWait(page, FORMULAS);
  await answer.locator(".katex-html").nth(3).waitFor();
  await eventually(async () => assert.equal(await answer.locator(".katex-html").count(), 4));
  await eventually(async () => assert.equal(await answer.locator(".formula-block .katex-display").count(), 2));
  await eventually(async () => assert.match(await answer.locator(".prose").innerText(), /price of \$5 or \$10/));
  await eventually(async () => assert.equal(await answer.locator(".prose :not(pre) > code").innerText(), String.raw`\(code\)`));
}

// thorough
export async function a_copied_formula_is_its_source(context) {
  const page = await context.visit("/", { on: "echo", permissions: ["clipboard-read", "clipboard-write"] });
  const answer = await sendAndWait(page, String.raw`Say: so \(a^2\) is`);
  await answer.locator(".katex-html").waitFor();
  await messageBox(page).blur(); // a selection in it would be copied
  await answer.locator(".prose p").evaluate((text) => getSelection().selectAllChildren(text));
  await page.keyboard.press("Control+C");
  await messageBox(page).press("Control+V");
  await eventually(async () => assert.equal((await messageBox(page).inputValue()).trim(), "so $a^2$ is"));
}

// thorough
export async function a_formula_that_cannot_be_drawn_shows_its_source(context) {
  const page = await context.visit("/", { on: "echo" });
  const bomb = String.raw`\def\a{\b\b}\def\b{\c\c}\def\c{\d\d}\def\d{\d\d}\a`;
  const answer = await sendAndWait(page, String.raw`Say: \(x\) \(\frac{\) \(\href{https://example.com}{y}\) \(${bomb}\)`);
  await answer.locator(".katex-html").first().waitFor();
  await eventually(async () => assert.equal(await answer.locator(".formula-source").first().innerText(), String.raw`\frac{`));
  await eventually(async () => assert.match(await answer.locator(".prose").innerText(), /\\def\\a/));
  await eventually(async () => assert.equal(await answer.locator(".prose a").count(), 0));
}

// thorough
export async function code_has_colours_and_wraps(context) {
  const page = await context.visit("/", { on: "echo" });
  const answer = await sendAndWait(page, `Say: \`\`\`python\ndef f(x):\n    return "${"long ".repeat(60)}"  # why\n\`\`\``);
  await answer.locator(".hljs-keyword").first().waitFor();
  await eventually(async () => assert.deepEqual(await answer.locator(".hljs-keyword").allInnerTexts(), ["def", "return"]));
  const code = answer.locator(".code pre");
  const overflows = () => code.evaluate((element) => element.scrollWidth > element.clientWidth);
  await eventually(async () => assert.equal(await overflows(), true));
  await answer.getByRole("button", { name: "Wrap lines" }).click();
  await eventually(async () => assert.equal(await overflows(), false));
}

// thorough
export async function a_table_is_copied_as_csv(context) {
  const page = await context.visit("/", { on: "echo", permissions: ["clipboard-read", "clipboard-write"] });
  const answer = await sendAndWait(page, 'Say: | a | b |\n| --- | --- |\n| 1, "one" | =SUM(A1) |\n| -5 % | +x |');
  await answer.locator(".table").hover();
  await answer.getByRole("button", { name: "Copy as CSV" }).click();
  await answer.locator(".table").getByRole("button", { name: "Copied" }).waitFor();
  await messageBox(page).press("Control+V");
  await eventually(async () => assert.equal(await messageBox(page).inputValue(), 'a,b\n"1, ""one""",\'=SUM(A1)\n-5 %,\'+x\n'));
  await eventually(async () => assert.equal(await answers(page).count(), 1));
}

/** A PNG that the page itself draws, in one colour. */
async function pngFile(page, width, height, name = `${width} by ${height}.png`) {
  const url = await page.evaluate(
    ([width, height]) => {
      const canvas = Object.assign(document.createElement("canvas"), { width, height });
      const context = canvas.getContext("2d");
      context.fillStyle = `hsl(${width + height} 70% 60%)`;
      context.fillRect(0, 0, width, height);
      return canvas.toDataURL("image/png");
    },
    [width, height],
  );
  return { name, mimeType: "image/png", buffer: Buffer.from(url.split(",")[1], "base64") };
}

// thorough
export async function pictures_of_a_message_are_uncropped_in_rows_of_one_height(context) {
  const page = await context.visit("/");
  const sizes = [[300, 200], [200, 300], [256, 256]];
  await attach(page, ...(await Promise.all(sizes.map(([width, height]) => pngFile(page, width, height)))));
  await sendAndWait(page, "What is in these?");
  const boxes = await userMessages(page).locator(".file-tile img").evaluateAll((all) => all.map((image) => image.getBoundingClientRect()));
  assert.equal(new Set(boxes.map((box) => Math.round(box.top))).size, 1);
  for (const [at, [width, height]] of sizes.entries()) {
    assert.ok(Math.abs(boxes[at].height - boxes[0].height) < 2, `${boxes[at].height} is not ${boxes[0].height}`);
    assert.ok(Math.abs(boxes[at].width / boxes[at].height - width / height) < 0.03, `${width} x ${height} is cropped`);
  }
}

// thorough
export async function many_files_are_folded_until_they_are_asked_for(context) {
  const page = await context.visit("/");
  await attach(page, ...(await Promise.all(Array.from({ length: 14 }, (_, at) => pngFile(page, 100 + at, 100)))));
  const answer = await sendAndWait(page, "What is in these?");
  const tiles = userMessages(page).locator(".file-tile");
  await eventually(async () => assert.equal(await tiles.count(), 9));
  await answer.getByRole("link", { name: "image 12" }).first().click();
  await page.locator("#file-12.file-found").waitFor();
  await eventually(async () => assert.equal(await tiles.count(), 14));
  await eventually(async () => assert.equal(await page.getByRole("button", { name: "5 more" }).count(), 0));
}
