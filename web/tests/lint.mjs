// Finds assertions that read a page once, which fail on a busy machine: `assert.equal(await box.inputValue(), "")`. Inside of
// `eventually(async () => ...)` they are tried until they hold. `make lint` runs it.
import { readFileSync, readdirSync } from "node:fs";
import { parseAst } from "../node_modules/vite/dist/node/index.js";

const isNode = (value) => value !== null && typeof value === "object";
const isFunction = (node) => /Function/.test(node.type ?? "");
const called = ({ callee }) => callee.name ?? callee.property?.name;
const isAssertion = ({ callee }) => [callee.name, callee.object?.name].includes("assert");

/** Whether code awaits something itself, and not in a function that it passes on. */
const awaits = (node) =>
  node.type === "AwaitExpression" || Object.values(node).some((value) => isNode(value) && !isFunction(value) && awaits(value));

/** The places of the assertions that read once. */
function* readsOnce(node) {
  if (node.type === "CallExpression") {
    if (called(node) === "eventually") return;
    if (isAssertion(node) && node.arguments.some(awaits)) yield node.start;
  }
  for (const value of Object.values(node)) if (isNode(value)) yield* readsOnce(value);
}

const folder = new URL("./", import.meta.url);
const files = readdirSync(folder, { recursive: true }).filter((name) => /^(scenarios\/)?[\w]+\.mjs$/.test(name));
const found = files.flatMap((name) => {
  const text = readFileSync(new URL(name, folder), "utf8");
  const line = (start) => text.slice(0, start).split("\n").length;
  return [...readsOnce(parseAst(text, { lang: "js" }))].map((start) => `web/tests/${name}:${line(start)}`);
});
for (const place of found) console.log(`${place}: reads the page once; wrap it: await eventually(async () => assert...)`);
process.exit(found.length ? 1 : 0);
