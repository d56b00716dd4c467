// Who wrote a message of a shared conversation.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./bundle.mjs";

const { authorOf } = await load("messages/author.ts");
const by = (author, created = 1) => ({ metadata: { author, created } });

test("other people are named, and the user is not", () => {
  assert.equal(authorOf(by("Bob"), null, "Ann"), "Bob");
  assert.equal(authorOf(by("Ann"), null, "Ann"), null);
});

test("messages from before the conversation was shared are its owner's", () => {
  assert.equal(authorOf(by(undefined), "Ann", "Bob"), "Ann");
  assert.equal(authorOf(by(undefined), null, "Ann"), null);
});

test("a message that is still being sent is the user's", () => {
  assert.equal(authorOf({ metadata: undefined }, "Ann", "Bob"), null);
});

test("on a server without accounts nobody is named", () => {
  assert.equal(authorOf(by(undefined), null, null), null);
});
