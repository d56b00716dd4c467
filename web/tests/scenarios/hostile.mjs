// Files and words that mean mischief: nothing of theirs runs, and no other host hears of it. What watches is the scene.
import { answered, answers, ask, assert, say } from "../doing.mjs";

/** What a browser says when it refuses to do such things. */
const REFUSED = [/Content Security Policy/, /Content-Security-Policy/, /sandboxed/, /Not allowed to load local resource/];
const BROKEN = [/status of 404/, /status of 422/, /ERR_INVALID_URL/];

export async function hostile_files_run_nothing_through_the_page_and_by_their_addresses(scene) {
  scene.allow(...REFUSED, ...BROKEN);
  const { first, step, count } = scene.given;
  const page = await scene.visit("/", { on: "hostile" });
  const answer = await ask(page, `/bring_files first=${first} step=${step} count=${count}`);
  await lookAtAll(page, answer);
  await answer.getByRole("button", { name: /What the model saw/ }).click();
  await page.getByRole("dialog", { name: "What the model saw" }).waitFor();
  await page.keyboard.press("Escape");
  const { attachments } = await scene.get(page, `/api/conversations/${page.url().split("/").at(-1)}`);
  assert.equal(attachments.length, count);
  const opened = await openAll(page, attachments);
  scene.told = { files: attachments.length, opened, problems: attachments.filter((one) => one.problem).length };
}

/** Every file comes into view, and whatever opens is opened. */
async function lookAtAll(page, answer) {
  for (const figure of await answer.locator("figure, .file-tile").all()) {
    await figure.scrollIntoViewIfNeeded();
    for (const button of await figure.getByRole("button", { name: /^(Open|Show its text|Show more)/ }).all()) {
      const opens = /^Open/.test((await button.getAttribute("aria-label")) ?? (await button.innerText()));
      await button.click();
      if (opens) await closeViewer(page);
      else await figure.locator("[aria-busy=true]").waitFor({ state: "detached" });
    }
  }
}

async function closeViewer(page) {
  const viewer = page.locator("dialog.viewer");
  await viewer.waitFor();
  await page.keyboard.press("Escape");
  await viewer.waitFor({ state: "detached" });
}

/** Each address of each file, as a link leads there. */
async function openAll(page, attachments) {
  const other = await page.context().newPage();
  let opened = 0;
  for (const { id, url } of attachments.filter((one) => !one.problem)) {
    for (const address of [url, `/api/attachments/${id}/text`, `/api/attachments/${id}/thumbnail`, `/api/attachments/${id}/pages/1`]) {
      const there = new URL(address, page.url()).href;
      const answer = await page.request.get(there);
      const { "x-content-type-options": sniff, "content-security-policy": policy } = answer.headers();
      assert.equal(sniff, "nosniff", address);
      assert.match(policy, /default-src 'none'/, address);
      if (!answer.ok()) continue;
      opened += 1;
      if (/^image\/(png|jpeg|webp)$/.test(answer.headers()["content-type"])) continue; // drawn by the page before
      await other.goto(there, { waitUntil: "load" }).catch((error) => {
        if (!/Download is starting|ERR_ABORTED/.test(String(error))) throw error;
      });
    }
  }
  await other.close();
  return opened;
}

export async function hostile_words_of_an_answer_run_nothing_and_ask_nobody(scene) {
  scene.allow(...BROKEN); // a data: URL becomes a file, and one that is all script has no words to show
  const page = await scene.visit("/", { on: "spoken" });
  const { words, together } = scene.given;
  for (let at = 0; at < words.length; at += together) {
    const some = words.slice(at, at + together);
    const half = Math.floor(some[0].length / 2);
    some[0] = `${some[0].slice(0, half)}⏸${some[0].slice(half)}`;
    await say(page, `Say: ${some.join("\n\n---\n\n")}\n\nthe end`);
    await answers(page).nth(at / together).waitFor({ state: "attached" });
    await scene.ask("go");
    await answered(page, at / together + 1);
    await answers(page).last().getByText("the end", { exact: true }).waitFor();
  }
  await page.reload();
  await answered(page, Math.ceil(words.length / together));
  for (const each of await answers(page).all()) await each.scrollIntoViewIfNeeded();
  await checkLinks(page);
  scene.told = { shapes: words.length };
}

/** Links lead to the web, to mail, or to a file of the conversation; nothing but our own files is embedded. */
async function checkLinks(page) {
  const found = await page.evaluate(() => ({
    links: [...document.querySelectorAll(".prose a")].map((one) => one.getAttribute("href")),
    embedded: [...document.querySelectorAll(".prose :is(img, video, audio, source, iframe, object, embed, svg, style, link, script, form, base, meta)")]
      .filter((one) => !one.closest("figure, button, .code-head"))
      .map((one) => one.outerHTML.slice(0, 200)),
  }));
  for (const href of found.links) assert.match(href ?? "", /^(https?:\/\/|mailto:|#)/);
  assert.deepEqual(found.embedded, []);
}

export async function hostile_words_of_a_tool_run_nothing_and_ask_nobody(scene) {
  scene.allow(...BROKEN);
  const page = await scene.visit("/", { on: "hostile" });
  const answer = await ask(page, "/say_words");
  await answer.locator("summary").first().click();
  await answer.locator(".tool-details pre").nth(1).waitFor();
  await lookAtAll(page, answer);
  await checkLinks(page);
}

export async function a_bad_link_does_nothing_when_it_is_clicked(scene) {
  const page = await scene.visit("/", { on: "spoken" });
  const answer = await ask(page, "Say: [one](javascript:__pwned()) [two](data:text/html,hello) [three](https://evil.example/there)");
  await answer.getByText("one").click();
  await answer.getByText("two").click();
  assert.equal(page.context().pages().length, 1);
  const link = answer.getByRole("link", { name: "three" });
  assert.equal(await link.getAttribute("rel"), "noopener noreferrer nofollow");
}

/** Must fail: on a page without any guard, all of it happens. */
export async function an_unguarded_page_is_caught(scene) {
  const page = await scene.visit("/", { on: "spoken" });
  const bare = await page.context().newPage();
  const reached = bare.waitForEvent("requestfailed");
  await bare.setContent(scene.given.html, { waitUntil: "commit" });
  for (const seen of [/asked another host/, /a script ran/, /a dialog was opened/])
    await scene.until(`it was seen: ${seen}`, () => scene.complaints.some((one) => seen.test(one)));
  await reached;
}
