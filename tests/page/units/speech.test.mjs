// Words that are heard go into the message at the cursor.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./bundle.mjs";

const { makeWriter } = await load("composer/speech.ts");

/** A text box with a cursor, marked by |. */
function boxWith(text) {
  const at = text.indexOf("|");
  return {
    value: text.replace("|", ""),
    selectionEnd: at,
    setRangeText(words, from, to) {
      this.value = this.value.slice(0, from) + words + this.value.slice(to);
      this.selectionEnd = from + words.length;
    },
    get shown() {
      return `${this.value.slice(0, this.selectionEnd)}|${this.value.slice(this.selectionEnd)}`;
    },
  };
}

const heard = (...texts) => texts.map((transcript) => ({ isFinal: false, 0: { transcript } }));

test("interim words are replaced by those that follow", () => {
  const box = boxWith("Hello| world");
  const write = makeWriter(box, "en-US");
  write(heard("deer"));
  assert.equal(box.shown, "Hello deer| world");
  write(heard("dear", "old"));
  assert.equal(box.shown, "Hello dear old| world");
  write(heard("dear"));
  assert.equal(box.shown, "Hello dear| world");
});

test("what is typed meanwhile stays, and the next words follow at the cursor", () => {
  const box = boxWith("|");
  const write = makeWriter(box, "en-US");
  write(heard("one"));
  Object.assign(box, { value: "One, ", selectionEnd: 5 });
  write(heard("one two"));
  assert.equal(box.shown, "One, |");
  write(heard("one two", " three"));
  assert.equal(box.shown, "One, three|");
});

test("sentences are separated by spaces as their language has them", () => {
  const box = boxWith("|");
  makeWriter(box, "ja-JP")(heard("こんにちは", "世界"));
  assert.equal(box.value, "こんにちは世界");
  const spaced = boxWith("|");
  makeWriter(spaced, "de-DE")(heard(" Guten Tag", " Welt"));
  assert.equal(spaced.value, "Guten Tag Welt");
});

test("nothing heard writes nothing", () => {
  const box = boxWith("Hello|");
  makeWriter(box, "en-US")(heard(""));
  assert.equal(box.shown, "Hello|");
});
