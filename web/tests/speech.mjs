// Speech recognition as browsers have it, for pages without a microphone: as strict as the real one.

/** Installs it in all pages of a browser that are loaded from now on; `isMissing` removes the browser's own. */
export async function fakeSpeech(page, { isMissing = false } = {}) {
  await page.context().addInitScript(install, isMissing);
  await page.reload();
}

/** Says words: all of them that were heard since the start, each of them an utterance. The last one may be final. */
export const say = (page, texts, isFinal = false) =>
  page.evaluate(({ texts, isFinal }) => window.__speech.say(texts, isFinal), { texts, isFinal });

/** Ends with an error, as browsers do: an error, then an end. */
export const failWith = (page, error) => page.evaluate((error) => window.__speech.fail(error), error);

/** What the page did with the recognitions that it made: language, calls, state. */
export const recognitionsOf = (page) =>
  page.evaluate(() => window.__recognitions.map(({ lang, calls, isListening }) => ({ lang, calls, isListening })));

function install(isMissing) {
  delete window.SpeechRecognition;
  delete window.webkitSpeechRecognition;
  if (isMissing) return;
  window.__recognitions = [];
  class FakeRecognition extends EventTarget {
    [Symbol.toStringTag] = "SpeechRecognition";
    lang = "";
    continuous = false;
    interimResults = false;
    onresult = null;
    onerror = null;
    onend = null;
    isListening = false;
    calls = [];
    constructor() {
      super();
      window.__recognitions.push(this);
    }
    start() {
      if (this.isListening) throw new DOMException("recognition has already started.", "InvalidStateError");
      if (this.lang && !Intl.getCanonicalLocales(this.lang).length) throw new TypeError("no such language");
      this.calls.push("start");
      this.isListening = true;
      window.__speech = this;
    }
    stop() {
      this.calls.push("stop");
      if (this.isListening) setTimeout(() => this.#end());
    }
    abort() {
      this.calls.push("abort");
      if (this.isListening) setTimeout(() => this.fail("aborted"));
    }
    say(texts, isFinal) {
      if (!this.isListening) throw new Error("nobody listens");
      if (texts.length > 1 && !this.continuous) throw new Error("only one utterance without `continuous`");
      if (!isFinal && !this.interimResults) return;
      const results = Object.assign(
        texts.map((transcript, index) => ({ 0: { transcript, confidence: 0.9 }, length: 1, isFinal: isFinal || index < texts.length - 1 })),
      );
      this.onresult?.(Object.assign(new Event("result"), { resultIndex: texts.length - 1, results }));
    }
    fail(error) {
      this.onerror?.(Object.assign(new Event("error"), { error, message: "" }));
      this.#end();
    }
    #end() {
      if (!this.isListening) return;
      this.isListening = false;
      this.onend?.(new Event("end"));
    }
  }
  window.webkitSpeechRecognition = FakeRecognition;
}
