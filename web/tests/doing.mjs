// What people do on the page, in words: say something, wait for the answer, look at it.
import assert from "node:assert/strict";

export const box = (page) => page.getByRole("textbox", { name: "Message", exact: true });
export const questions = (page) => page.getByRole("listitem", { name: "You", exact: true });
export const answers = (page) => page.getByRole("listitem", { name: "Answer", exact: true });

/** Writes a message and sends it. */
export async function say(page, words) {
  await box(page).fill(words);
  await page.locator("button.send:enabled").waitFor();
  await box(page).press("Enter");
}

/** Waits until the answer is written, and gives it. */
export async function answered(page, count = null) {
  if (count !== null) await answers(page).nth(count - 1).waitFor();
  await page.getByRole("button", { name: "Send", exact: true }).waitFor();
  const last = answers(page).last();
  await last.locator(".message-actions").waitFor();
  return last;
}

/** Says something and waits for the answer to it. */
export async function ask(page, words) {
  const before = await answers(page).count();
  await say(page, words);
  return answered(page, before + 1);
}

/** Every picture of a place has arrived and is drawn. */
export async function drawn(scene, place) {
  await scene.until("every picture is drawn", async () => {
    const states = await place.locator("img").evaluateAll((all) => all.map((one) => one.complete && one.naturalWidth > 0));
    return states.length > 0 && states.every(Boolean);
  });
}

/** Waits until nothing has moved the list of messages for 20 frames. */
export async function atRest(page) {
  await page.locator(".talk").evaluate(
    (talk) =>
      new Promise((done) => {
        let [before, still] = ["", 0];
        const look = () => {
          const now = `${talk.scrollTop} of ${talk.scrollHeight}`;
          still = now === before ? still + 1 : 0;
          before = now;
          if (still === 20) done();
          else requestAnimationFrame(look);
        };
        look();
      }),
  );
}

/** The conversation's id, once the address names it. */
export async function idOf(page) {
  await page.waitForURL(/\/c\/[^/]+$/);
  return decodeURIComponent(new URL(page.url()).pathname.slice(3));
}

/** The texts of what a locator finds. */
export const wordsOf = async (found) => (await found.allInnerTexts()).map((one) => one.trim());

/** What a browser says of requests that a server was answering, or was to answer, when it ended. */
export const SERVER_GONE = [/ERR_CONNECTION_REFUSED/, /ERR_CONNECTION_RESET/, /ERR_EMPTY_RESPONSE/, /ERR_CONTENT_LENGTH_MISMATCH/, /ERR_INCOMPLETE_CHUNKED_ENCODING/];

export { assert };
