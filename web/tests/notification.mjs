// A notification as browsers have it, for pages whose browser shows none: as strict as the real one.

/** Installs it in all pages of a browser that are loaded from now on. `answer` is the user's to the browser's question. */
export async function fakeNotifications(page, { answer = "granted", isMissing = false } = {}) {
  await page.context().addInitScript(install, { answer, isMissing });
  await page.reload();
}

/** The titles and texts of what was shown, without the sample of the settings. */
export const shownOn = (page) =>
  page.evaluate(() => window.__notifications.shown.filter(({ tag }) => tag !== "sample").map(({ title, body }) => [title, body]));

/** Clicks the notification that was shown last. */
export const clickLast = (page) => page.evaluate(() => window.__notifications.shown.at(-1).onclick?.(new Event("click")));

function install({ answer, isMissing }) {
  const state = (window.__notifications = { shown: [], asked: 0, focused: 0, isHidden: false });
  const KEY = "test.permission";
  class FakeNotification extends EventTarget {
    onclick = null;
    onclose = null;
    static get permission() {
      return localStorage.getItem(KEY) ?? "default";
    }
    static async requestPermission() {
      if (!navigator.userActivation.isActive) throw new Error("notifications may be asked for after a gesture alone");
      state.asked += 1;
      localStorage.setItem(KEY, answer);
      return answer;
    }
    constructor(title, { body = "", tag = "", lang = "" } = {}) {
      super();
      if (arguments.length === 0) throw new TypeError("1 argument required, but only 0 present");
      if (FakeNotification.permission !== "granted") throw new Error("a notification without permission");
      Object.assign(this, { title: String(title), body: String(body), tag: String(tag), lang });
      state.shown = [...state.shown.filter((other) => !tag || other.tag !== tag), this];
    }
    close() {
      this.onclose?.(new Event("close"));
    }
  }
  if (isMissing) delete window.Notification;
  else window.Notification = FakeNotification;
  window.focus = () => void (state.focused += 1);
  Object.defineProperty(document, "visibilityState", { get: () => (state.isHidden ? "hidden" : "visible") });
  Object.defineProperty(document, "hidden", { get: () => state.isHidden });
}
