import { launch } from "./browser.mjs";
import { createInterface } from "node:readline";
const lines = createInterface({ input: process.stdin, crlfDelay: Infinity })[Symbol.asyncIterator]();
const step = async (name) => { console.log(name); await lines.next(); };
const base = (process.env.BASE ?? "--no-sandbox --site-per-process --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync --disable-dev-shm-usage").split(" ");
const browser = await launch([...base, ...(process.env.FLAGS ? process.env.FLAGS.split(" ") : [])]);
const N = 12;
const url = process.env.URLPATH ? process.env.SITE + process.env.URLPATH : `${process.env.SITE}/?token=${process.env.TOK}`;
let shared = process.env.SHARED ? await browser.newContext({viewport:{width:1280,height:800}}) : null;
async function visit(send) {
  const c = shared ?? await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: process.env.REDUCED ? "reduce" : undefined });
  const page = await c.newPage();
  if (process.env.STUB) await page.route("**/*", r => r.fulfill({status:200, contentType:"text/html", body:"<p>hi"}));
  await page.goto(url);
  if (!process.env.URLPATH) await page.getByRole("textbox", { name: "Message", exact: true }).waitFor();
  if (send && !process.env.URLPATH) {
    await page.getByRole("textbox", { name: "Message", exact: true }).fill("Hello");
    await page.locator("button.send:enabled").waitFor();
    await page.getByRole("textbox", { name: "Message", exact: true }).press("Enter");
    await page.locator(".message-actions").last().waitFor();
    await page.getByRole("button", { name: "Send", exact: true }).waitFor();
  }
  if (shared) await page.close(); else await c.close();
}
await visit(true);
await step("start");
for (let i = 0; i < N; i++) await visit(false);
await step(`${N} visits`);
for (let i = 0; i < N; i++) await visit(true);
await step(`${N} sends`);
await browser.close();
process.exit(0);
