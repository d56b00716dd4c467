// All words of the page are in its catalogues, each language has all of them, and each is used.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { messagesOf, mistakesIn } from "../../../web/catalogues.ts";
import { CATALOGUES, modulesOfPage, parse, SOURCE, usesIn, walk } from "../../../web/keys.ts";

const LANGUAGES = readdirSync(CATALOGUES).map((file) => file.replace(".ts", "")).filter((language) => language !== "en");
const english = await messagesOf("en");
const modules = modulesOfPage();

/** Props that people read or hear; `label`, `says` and `words` are those of our own components. */
const PROPS = /^(aria-(label|description|roledescription|placeholder|valuetext)|title|placeholder|alt|label|says|words|legend)$/;
/** Functions whose first argument people read or hear, and the place of the argument for others. */
const READERS = { toast: 0, ApiError: 1, showError: 1 };
const TRANSLATORS = ["t", "rich"];
const isWord = (text) => /\p{L}/u.test(text);
/** Sentences, wherever they are: two words or more, with a capital letter or a full stop. */
const isSentence = (text) => /^\s*\p{Lu}\p{Ll}*[’']?\p{L}* \p{L}/u.test(text) || /\p{L} \p{L}.*[.…!?]\s*$/u.test(text);

/** The texts that an expression may be: those of its branches, not of what it compares or calls. */
function textsOf(node) {
  switch (node?.type) {
    case "Literal":
      return typeof node.value === "string" ? [node.value] : [];
    case "TemplateLiteral":
      return [...node.quasis.map(({ value }) => value.cooked), ...node.expressions.flatMap(textsOf)];
    case "ConditionalExpression":
      return [node.consequent, node.alternate].flatMap(textsOf);
    case "LogicalExpression":
    case "BinaryExpression":
      return node.operator === "+" || node.type === "LogicalExpression" ? [node.left, node.right].flatMap(textsOf) : [];
    case "JSXExpressionContainer":
    case "ParenthesizedExpression":
    case "TSAsExpression":
    case "TSNonNullExpression":
      return textsOf(node.expression);
    default:
      return [];
  }
}

/** The words in a module that people read or hear and that come from no catalogue. */
function wordsIn(program) {
  const found = new Set();
  const add = (texts, isWanted = isWord) => texts.filter(isWanted).forEach((text) => found.add(text.trim()));
  walk(program, (node, above) => {
    const parent = above.at(-1);
    if (node.type === "JSXText") add([node.value]);
    if (node.type === "JSXAttribute" && PROPS.test(node.name.name)) add(textsOf(node.value));
    if (node.type === "JSXExpressionContainer" && parent.type !== "JSXAttribute") add(textsOf(node.expression));
    if (node.type === "CallExpression" || node.type === "NewExpression") {
      const at = READERS[node.callee.name];
      if (at !== undefined) add(textsOf(node.arguments[at]), (text) => isWord(text) && !(text in english));
    }
    if (node.type === "AssignmentExpression" && node.left.property?.name === "title") add(textsOf(node.right));
    if (isForPrograms(above)) return;
    if (node.type === "Literal" || node.type === "TemplateLiteral") add(textsOf(node), isSentence);
  });
  return [...found];
}

/** Errors that tell programmers what is wrong, directives, and names of classes. */
const isForPrograms = (above) =>
  above.some(({ type, callee, name }) => (type === "NewExpression" && /Error$/.test(callee.name) && callee.name !== "ApiError") || (type === "JSXAttribute" && name.name === "className"));

/** Calls of the translators that run when a module is loaded: the language isn't there yet, or changes later. */
function earlyCallsIn(program) {
  const found = [];
  walk(program, (node, above) => {
    if (node.type !== "CallExpression" || !TRANSLATORS.includes(node.callee.name)) return;
    if (!above.some(({ type }) => /Function/.test(type))) found.push(node.arguments[0]?.value);
  });
  return found;
}

const inAllModules = (read) =>
  [...modules].flatMap(([path, program]) => [...read(program)].map((found) => `${path}: ${found}`));
const unusedOf = (keys, programs) => {
  const used = programs.map((program) => usesIn(program, new Set(keys)));
  const names = new Set(used.flatMap(({ literals, templated }) => [...literals.map(({ key }) => key), ...templated]));
  return keys.filter((key) => !names.has(key));
};

test("no words of the page are outside of its catalogues", () => {
  assert.ok(modules.size > 100 && LANGUAGES.length > 0);
  assert.deepEqual(inAllModules(wordsIn), []);
});

test("no message is read before the language is loaded", () => {
  assert.deepEqual(inAllModules(earlyCallsIn), []);
  assert.deepEqual(earlyCallsIn(parse("a.ts", `const label = t("page.close"); const later = () => t("page.skip");`)), ["page.close"]);
});

test("a word that is put into a component is found", () => {
  const sidebar = readFileSync(`${SOURCE}sidebar/Sidebar.tsx`, "utf8");
  const changed = sidebar.replace('{t("sidebar.new")}', "New conversation").replace('{t("sidebar.hide")}', '"Hide the list"');
  assert.deepEqual(wordsIn(parse("Sidebar.tsx", changed)), ["Hide the list", "New conversation"]);
  const within = (jsx) => wordsIn(parse("Part.tsx", `export function Part({ name, open }) { return ${jsx}; }`));
  assert.deepEqual(within("<p>Nothing here</p>"), ["Nothing here"]);
  assert.deepEqual(within('<Button>{open ? "Less" : t("page.showMore")}</Button>'), ["Less"]);
  assert.deepEqual(within('<a aria-label={`Open ${name}`} title="Open" className="link open" />'), ["Open"]);
  assert.deepEqual(within('<img alt={name || "Picture"} src="picture.png" />'), ["Picture"]);
  assert.deepEqual(within('<input placeholder="Search" type="search" />'), ["Search"]);
  assert.deepEqual(within('<b title={t("page.close")}>{name === "Bob" && name} · {t("files.named", { name: "x" })}</b>'), []);
});

test("words of announcements, errors, document titles and constants are found", () => {
  const within = (code) => wordsIn(parse("part.ts", code));
  assert.deepEqual(within("toast(`Saved ${name}`); toast(t('settings.saved'));"), ["Saved"]);
  assert.deepEqual(within('throw new ApiError("Unexpected", "Again");'), ["Again"]);
  assert.deepEqual(within('document.title = "Settings"'), ["Settings"]);
  assert.deepEqual(within('const LOST = "The connection is lost"; throw new TypeError("It was not found.");'), ["The connection is lost"]);
  assert.deepEqual(within('const names = ["not finished yet."], path = "a b", type = "image/png";'), ["not finished yet."]);
});

for (const language of LANGUAGES)
  test(`${language} has all messages of English with the same arguments, and no other`, async () => {
    assert.deepEqual(mistakesIn(language, await messagesOf(language), english), []);
  });

test("a message that lacks, that is left over, or that has other arguments is a mistake", () => {
  const messages = { one: "Eins", more: "{count, plural, one {# Ding} other {<b>{count}</b> Dinge}}", rest: "Rest" };
  const wanted = { one: "One", more: "{number, plural, one {# thing} other {# things}}", two: "Two" };
  assert.deepEqual(mistakesIn("de", messages, wanted), [
    "de has no words for two",
    "de has words for rest, and English has none",
    "more needs number, and has b, count in de",
  ]);
});

test("no sentence of another language is still English", async () => {
  for (const language of LANGUAGES) {
    const messages = Object.entries(await messagesOf(language));
    const same = messages.filter(([key, text]) => text === english[key] && /\p{L}+ \p{L}+/u.test(text.replaceAll(/\{.*?\}/g, "")));
    assert.deepEqual(same, []);
  }
});

test("each message is used", () => {
  const programs = [...modules.values()];
  assert.deepEqual(unusedOf(Object.keys(english), programs), []);
  assert.deepEqual(unusedOf(["page.close", "page.closed", "matrix.kind.smell"], programs), ["page.closed"]);
});
