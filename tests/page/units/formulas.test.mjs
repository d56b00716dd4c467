// Formulas in a text become `$$…$$`; code, prices and what has no end stay as they are.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./bundle.mjs";

const { markFormulas } = await load("messages/formulas.ts");
const raw = String.raw;

test("brackets and single dollars become formulas within a line", () => {
  assert.equal(markFormulas(raw`so \(a^2\) is $b$.`), "so $$a^2$$ is $$b$$.");
  assert.equal(markFormulas("a $$E$$ b"), "a $$E$$ b");
});

test("a formula on lines of its own is a block, also in lists and quotations", () => {
  assert.equal(markFormulas("\\[\nx\n= 2\n\\]\nrest"), "$$\nx\n= 2\n$$\nrest");
  assert.equal(markFormulas("- item\n  \\[\n  a\n  \\]\n  more"), "- item\n  $$\n  a\n  $$\n  more");
  assert.equal(markFormulas("> \\[ a \\]\n> b"), "> $$\n> a\n> $$\n> b");
  assert.equal(markFormulas("$$E$$\n"), "$$\nE\n$$\n");
});

test("prices, escaped dollars and brackets without an end are no formulas", () => {
  for (const text of ["costs $5 and $10", "it's US$5, and $20", raw`\$5 and 6$`, raw`\\(a\\)`, raw`open \(a`, "$ a $"]) {
    assert.equal(markFormulas(text), text);
  }
});

test("code is unchanged", () => {
  for (const text of ["`\\(no\\)` and ``a ` \\(b\\)``", "```\n\\(no\\) $a$\n```\n", "~~~\n$a$", "  ```\n  $a$"]) {
    assert.equal(markFormulas(text), text);
  }
});

test("code ends with its fence, also in a list or a quotation", () => {
  assert.equal(markFormulas("- a\n  ```\n  $a$\n  ```\n  $b$"), "- a\n  ```\n  $a$\n  ```\n  $$b$$");
  assert.equal(markFormulas("> ```\n> $a$\n> ```\n> $b$"), "> ```\n> $a$\n> ```\n> $$b$$");
  assert.equal(markFormulas("  ```\n$a$\n```\n$b$"), "  ```\n$a$\n```\n$$b$$");
});

test("a formula that is too long, or has an empty line, stays text", () => {
  const long = `\\(${"x".repeat(20_000)}\\)`;
  assert.equal(markFormulas(long), long);
  assert.equal(markFormulas("\\(a\n\nb\\)"), "\\(a\n\nb\\)");
});
