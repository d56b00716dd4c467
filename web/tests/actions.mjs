// What users do on the page: send a message, wait for the answer, look at it.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

/** Milliseconds; long enough for a busy machine. */
const TIMEOUT = 60_000;

export const messageBox = (page) => page.getByRole("textbox", { name: "Message", exact: true });
export const userMessages = (page) => page.getByRole("listitem", { name: "You", exact: true });
export const answers = (page) => page.getByRole("listitem", { name: "Answer", exact: true });

/** Writes a message and sends it. */
export async function send(page, text) {
  await messageBox(page).fill(text);
  await page.locator("button.send:enabled").waitFor();
  await messageBox(page).press("Enter");
}

/** Waits until the last answer is complete, and returns it; `count` is the number of answers to wait for. */
export async function waitForAnswer(page, count = null) {
  if (count !== null) await answers(page).nth(count - 1).waitFor();
  await page.getByRole("button", { name: "Send", exact: true }).waitFor();
  const last = answers(page).last();
  await last.locator(".message-actions").waitFor();
  return last;
}

/** Sends a message and waits for its answer. */
export async function sendAndWait(page, text) {
  const count = await answers(page).count();
  await send(page, text);
  return waitForAnswer(page, count + 1);
}

/** Repeats assertions about a page until they hold: what a person sees may follow a moment after what was waited for. */
export async function eventually(check) {
  for (const end = performance.now() + TIMEOUT; ; ) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > end) throw error;
      await sleep(25);
    }
  }
}

/** Waits until all pictures within a locator are loaded. */
export async function waitForImages(context, parent) {
  await context.until("all pictures are loaded", async () => {
    const states = await parent
      .locator("img")
      .evaluateAll((images) => images.map((image) => image.complete && image.naturalWidth > 0));
    return states.length > 0 && states.every(Boolean);
  });
}

/** Waits until the list of messages hasn't scrolled or grown for 20 frames. */
export async function waitForScrollEnd(page) {
  await page.locator(".talk").evaluate(
    (list) =>
      new Promise((done) => {
        let [before, unchanged] = ["", 0];
        const check = () => {
          const now = `${list.scrollTop} of ${list.scrollHeight}`;
          unchanged = now === before ? unchanged + 1 : 0;
          before = now;
          if (unchanged === 20) done();
          else requestAnimationFrame(check);
        };
        check();
      }),
  );
}

/** The conversation's id, once it is in the URL. */
export async function conversationId(page) {
  await page.waitForURL(/\/c\/[^/]+$/);
  return decodeURIComponent(new URL(page.url()).pathname.slice(3));
}

/** Waits until the history entries of closed dialogs are left, which would abort a navigation of the test. */
export const leaveDialogs = (page) => page.waitForFunction(() => !history.state);

/** The texts of all elements of a locator. */
export const textsOf = async (locator) => (await locator.allInnerTexts()).map((text) => text.trim());

/** The console's errors for requests to a server that stops or is stopped. */
export const SERVER_STOPPED_ERRORS = [
  /ERR_CONNECTION_REFUSED/,
  /ERR_CONNECTION_RESET/,
  /ERR_EMPTY_RESPONSE/,
  /ERR_CONTENT_LENGTH_MISMATCH/,
  /ERR_INCOMPLETE_CHUNKED_ENCODING/,
];

export { assert };
