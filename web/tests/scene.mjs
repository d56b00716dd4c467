// What a scenario has: pages of a browser that knows nobody yet, and a watch over everything they do. Whatever a page
// writes to the console as an error, asks of other hosts, or runs that it mustn't, fails the scenario.
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

/** Long enough for a machine that does other things, too; what is waited for usually comes at once. */
const PATIENCE = 60_000;

export class Scene {
  complaints = [];
  /** What a scenario measured, for whoever played it. */
  told = {};
  #contexts = [];
  #allowed = [];

  constructor(browser, given, ask) {
    Object.assign(this, { browser, given, ask });
  }

  /** A page at an address; `on` names the site, `beside` a page whose cookies it shares, the rest is the browser's. */
  async visit(path = "/", { on = "plain", beside = null, ...settings } = {}) {
    const site = this.given.sites[on];
    const context = beside ? beside.context() : await this.#open(site.url, settings);
    const page = await context.newPage();
    const mark = path.includes("?") ? "&" : "?";
    await page.goto(`${site.url}${path}${beside ? "" : `${mark}token=${site.token}`}`);
    return page;
  }

  async #open(url, settings) {
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 800 }, ...settings });
    context.setDefaultTimeout(PATIENCE);
    await context.addInitScript(watchScripts);
    this.#contexts.push(context);
    context.on("request", (request) => this.#weigh(request, url));
    context.on("console", (message) => {
      if (message.type() === "error") this.#complain(`console: ${message.text()} ${message.location().url}`);
    });
    context.on("weberror", (thrown) => this.#complain(`error: ${thrown.error().stack ?? thrown.error()}`));
    context.on("dialog", (dialog) => {
      this.#complain(`a dialog was opened: ${dialog.message()}`);
      dialog.dismiss().catch(() => {});
    });
    return context;
  }

  #weigh(request, url) {
    const address = request.url();
    if (address.startsWith(`${url}/`) || !/^(https?|wss?|ftp):/.test(address)) return;
    this.#complain(`asked another host: ${address}`);
  }

  #complain(words) {
    if (!this.#allowed.some((one) => one.test(words))) this.complaints.push(words);
  }

  /** Complaints that belong to what the scenario does, such as a 404 that it asks for. */
  allow(...patterns) {
    this.#allowed.push(...patterns);
  }

  /** Waits until something holds, and says what didn't. */
  async until(what, holds, milliseconds = PATIENCE) {
    const end = performance.now() + milliseconds;
    for (;;) {
      const value = await holds();
      if (value) return value;
      if (performance.now() > end) throw new Error(`it never came to be: ${what}`);
      await pause(25);
    }
  }

  /** Our server's JSON, as the page's own cookie gets it. */
  async get(page, path) {
    const answer = await page.request.get(new URL(path, page.url()).href);
    if (!answer.ok()) throw new Error(`${path}: ${answer.status()} ${await answer.text()}`);
    return answer.json();
  }

  /** A picture of every page as it is now: gives their paths. */
  async photograph(name) {
    const pages = this.#contexts.flatMap((context) => context.pages());
    const paths = pages.map((_, index) => join(this.given.folder, `${name}-${index}.png`));
    await Promise.all(pages.map((page, index) => page.screenshot({ path: paths[index], timeout: 10_000 }).catch(() => {})));
    return paths;
  }

  async close() {
    const before = this.complaints.length;
    await Promise.all(this.#contexts.map((context) => context.close().catch(() => {})));
    this.complaints.length = Math.min(this.complaints.length, before); // what a closing page says is no complaint
  }
}

/** Runs in every frame: a script that isn't ours leaves a mark by calling this. */
function watchScripts() {
  window.__pwned = (words) => console.error(`a script ran: ${words ?? location.href}`);
}
