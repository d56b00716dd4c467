// What a scenario works with: pages of a fresh browser, and checks of everything that they do. A scenario fails if a page
// logs an error to the console, requests another host, opens a dialog or runs a foreign script.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Milliseconds; long enough for a busy machine. */
const TIMEOUT = 60_000;

export class ScenarioContext {
  violations = [];
  /** What the scenario measured; returned to the Python test. */
  result = {};
  #browserContexts = [];
  #allowed = [];

  constructor(browser, input, call) {
    Object.assign(this, { browser, input, call });
  }

  /** Opens a page. `on` names the site, `beside` is a page whose cookies it shares, the rest are browser settings. */
  async visit(path = "/", { on = "inspector", beside = null, ...settings } = {}) {
    const site = this.input.sites[on];
    const browserContext = beside ? beside.context() : await this.#openBrowser(site.url, settings);
    const page = await browserContext.newPage();
    const separator = path.includes("?") ? "&" : "?";
    await page.goto(`${site.url}${path}${beside ? "" : `${separator}token=${site.token}`}`);
    return page;
  }

  async #openBrowser(url, settings) {
    const browserContext = await this.browser.newContext({ viewport: { width: 1280, height: 800 }, ...settings });
    browserContext.setDefaultTimeout(TIMEOUT);
    await browserContext.addInitScript(reportScripts);
    this.#browserContexts.push(browserContext);
    browserContext.on("request", (request) => this.#checkRequest(request, url));
    browserContext.on("console", (message) => {
      if (message.type() === "error") this.#addViolation(`console: ${message.text()} ${message.location().url}`);
    });
    browserContext.on("weberror", (event) => this.#addViolation(`error: ${event.error().stack ?? event.error()}`));
    browserContext.on("dialog", (dialog) => {
      this.#addViolation(`a dialog was opened: ${dialog.message()}`);
      dialog.dismiss().catch(() => {});
    });
    return browserContext;
  }

  #checkRequest(request, url) {
    const requested = request.url();
    if (requested.startsWith(`${url}/`) || !/^(https?|wss?|ftp):/.test(requested)) return;
    this.#addViolation(`requested another host: ${requested}`);
  }

  #addViolation(description) {
    if (!this.#allowed.some((pattern) => pattern.test(description))) this.violations.push(description);
  }

  /** Allows violations that the scenario causes on purpose, such as the console error of a 404. */
  allow(...patterns) {
    this.#allowed.push(...patterns);
  }

  /** Waits until `condition` returns something true, and returns that; the error names `description`. */
  async until(description, condition, milliseconds = TIMEOUT) {
    const end = performance.now() + milliseconds;
    for (;;) {
      const value = await condition();
      if (value) return value;
      if (performance.now() > end) throw new Error(`not within ${milliseconds} ms: ${description}`);
      await sleep(25);
    }
  }

  /** Reads JSON from the server with the cookie of a page. */
  async get(page, path) {
    const response = await page.request.get(new URL(path, page.url()).href);
    if (!response.ok()) throw new Error(`${path}: ${response.status()} ${await response.text()}`);
    return response.json();
  }

  /** The text of every page and of its open dialogs, for where no screenshot is at hand. */
  async textOfPages() {
    const pages = this.#browserContexts.flatMap((browserContext) => browserContext.pages());
    const read = () => [...document.querySelectorAll("dialog[open]"), document.body].map((one) => one.innerText.slice(-1500)).join("\n---\n");
    const texts = pages.map((page) => Promise.race([page.evaluate(read), sleep(5_000, "it doesn't answer")]));
    return (await Promise.all(texts)).map((text, index) => `page ${index}: ${text}`).join("\n");
  }

  /** Takes a screenshot of every page and returns the paths. */
  async takeScreenshots(name) {
    const pages = this.#browserContexts.flatMap((browserContext) => browserContext.pages());
    const paths = pages.map((_, index) => join(this.input.folder, `${name}-${index}.png`));
    await Promise.all(pages.map((page, index) => page.screenshot({ path: paths[index], timeout: 10_000 }).catch(() => {})));
    return paths;
  }

  async close() {
    const count = this.violations.length;
    await Promise.all(this.#browserContexts.map((browserContext) => browserContext.close().catch(() => {})));
    this.violations.length = Math.min(this.violations.length, count); // requests that closing aborts log errors, too
  }
}

/** Runs in every frame: hostile files and answers call this function if their script runs. */
function reportScripts() {
  window.__pwned = (detail) => console.error(`a script ran: ${detail ?? location.href}`);
}
