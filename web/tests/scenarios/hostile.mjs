// Hostile files and texts run no script and reach no other host; context.mjs detects both.
import { waitForAnswer, answers, sendAndWait, assert, send, eventually } from "../actions.mjs";

/** Console errors of a browser that blocks a script or a request. */
const BLOCKED = [/Content Security Policy/, /Content-Security-Policy/, /sandboxed/, /Not allowed to load local resource/];
const BROKEN = [/status of 404/, /status of 422/, /ERR_INVALID_URL/];

export async function hostile_files_run_nothing_in_the_page_and_at_their_urls(context) {
  context.allow(...BLOCKED, ...BROKEN);
  const { first, step, count } = context.input;
  const page = await context.visit("/", { on: "hostile" });
  const answer = await sendAndWait(page, `/send_files first=${first} step=${step} count=${count}`);
  await viewAllFiles(page, answer);
  await answer.getByRole("button", { name: /What the model saw/ }).click();
  await page.getByRole("dialog", { name: "What the model saw" }).waitFor();
  await page.keyboard.press("Escape");
  const { attachments } = await context.get(page, `/api/conversations/${page.url().split("/").at(-1)}`);
  assert.equal(attachments.length, count);
  const opened = await openAllUrls(page, attachments);
  context.result = { files: attachments.length, opened, problems: attachments.filter((file) => file.problem).length };
}

/** Scrolls to every file and opens its viewer. */
async function viewAllFiles(page, answer) {
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

/** Opens all URLs of all files in a tab, and counts them. */
async function openAllUrls(page, attachments) {
  const tab = await page.context().newPage();
  let opened = 0;
  for (const { id, url } of attachments.filter((file) => !file.problem)) {
    for (const path of [url, `/api/attachments/${id}/text`, `/api/attachments/${id}/thumbnail`, `/api/attachments/${id}/pages/1`]) {
      const target = new URL(path, page.url()).href;
      const response = await page.request.get(target);
      const { "x-content-type-options": sniff, "content-security-policy": policy } = response.headers();
      assert.equal(sniff, "nosniff", path);
      assert.match(policy, /default-src 'none'/, path);
      if (!response.ok()) continue;
      opened += 1;
      if (/^image\/(png|jpeg|webp)$/.test(response.headers()["content-type"])) continue; // drawn by the page before
      await tab.goto(target, { waitUntil: "load" }).catch((error) => {
        if (!/Download is starting|ERR_ABORTED/.test(String(error))) throw error;
      });
    }
  }
  await tab.close();
  return opened;
}

export async function hostile_answers_run_nothing_and_request_nothing(context) {
  context.allow(...BROKEN); // data: URLs become files, and a file that is only a script has no text preview
  const page = await context.visit("/", { on: "echo" });
  const { texts, batch } = context.input;
  for (let start = 0; start < texts.length; start += batch) {
    const current = texts.slice(start, start + batch);
    const half = Math.floor(current[0].length / 2);
    current[0] = `${current[0].slice(0, half)}⏸${current[0].slice(half)}`;
    await send(page, `Say: ${current.join("\n\n---\n\n")}\n\nthe end`);
    await answers(page).nth(start / batch).waitFor({ state: "attached" });
    await context.call("resume");
    await waitForAnswer(page, start / batch + 1);
    await answers(page).last().getByText("the end", { exact: true }).waitFor();
  }
  await page.reload();
  await waitForAnswer(page, Math.ceil(texts.length / batch));
  for (const answer of await answers(page).all()) await answer.scrollIntoViewIfNeeded();
  await checkLinks(page);
  context.result = { texts: texts.length };
}

/** Links may lead to the web, to mail or to a file of the conversation; only the server's own files may be embedded. */
async function checkLinks(page) {
  const { links, embedded } = await page.evaluate(() => ({
    links: [...document.querySelectorAll(".prose a")].map((link) => link.getAttribute("href")),
    embedded: [...document.querySelectorAll(".prose :is(img, video, audio, source, iframe, object, embed, svg, style, link, script, form, base, meta)")]
      .filter((element) => !element.closest("figure, button, .code-head"))
      .map((element) => element.outerHTML.slice(0, 200)),
  }));
  for (const href of links) assert.match(href ?? "", /^(https?:\/\/|mailto:|#)/);
  assert.deepEqual(embedded, []);
}

export async function hostile_tool_results_run_nothing_and_request_nothing(context) {
  context.allow(...BROKEN);
  const page = await context.visit("/", { on: "hostile" });
  const answer = await sendAndWait(page, "/send_texts");
  await answer.locator("summary").first().click();
  await answer.locator(".tool-details pre").nth(1).waitFor();
  await viewAllFiles(page, answer);
  await checkLinks(page);
}

export async function a_bad_link_does_nothing_when_clicked(context) {
  const page = await context.visit("/", { on: "echo" });
  const answer = await sendAndWait(page, "Say: [one](javascript:__pwned()) [two](data:text/html,hello) [three](https://evil.example/there)");
  await answer.getByText("one").click();
  await answer.getByText("two").click();
  assert.equal(page.context().pages().length, 1);
  const link = answer.getByRole("link", { name: "three" });
  await eventually(async () => assert.equal(await link.getAttribute("rel"), "noopener noreferrer nofollow"));
}

/** Must fail: shows that the checks detect what happens on an unprotected page. */
export async function an_unprotected_page_is_caught(context) {
  const page = await context.visit("/", { on: "echo" });
  const unprotected = await page.context().newPage();
  const requested = unprotected.waitForEvent("requestfailed");
  await unprotected.setContent(context.input.html, { waitUntil: "commit" });
  for (const violation of [/requested another host/, /a script ran/, /a dialog was opened/])
    await context.until(`detected: ${violation}`, () => context.violations.some((text) => violation.test(text)));
  await requested;
}

export async function strings_never_become_markup(context) {
  context.allow(/TrustedHTML/, /TrustedTypePolicy/);
  const page = await context.visit("/", { on: "echo" });
  const answer = await sendAndWait(page, "Say: caf&eacute; **bold** &copy;");
  await answer.getByText("café").waitFor();
  const refusals = await page.evaluate(() => {
    const tries = [
      (element) => (element.innerHTML = "<b>x</b>"),
      (element) => (element.innerHTML = "&eacute;<b>x</b>"),
      (element) => element.insertAdjacentHTML("beforeend", "<b>x</b>"),
      () => trustedTypes.createPolicy("other", {}),
    ];
    return tries.map((attempt) => {
      try {
        attempt(document.createElement("div"));
      } catch (error) {
        return error.name;
      }
      return "nothing";
    });
  });
  assert.deepEqual(refusals, ["TypeError", "TypeError", "TypeError", "TypeError"]);
  await page.screenshot({ path: context.input.shot });
}
