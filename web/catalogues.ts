// Compiles the catalogues of src/language/catalogues, and ends the build if one doesn't match the English one.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import compile from "icu-minify/compile";
import { transformSync } from "rolldown/utils";
import type { Plugin } from "vite";
import { CATALOGUES, modulesAtStart, modulesOfPage, parse, SOURCE, usesIn } from "./keys.ts";

type Messages = Record<string, string>;

/** The messages of a language by key. */
export async function messagesOf(language: string): Promise<Messages> {
  const { code, errors } = transformSync("catalogue.ts", readFileSync(`${CATALOGUES}${language}.ts`, "utf8"));
  if (errors.length) throw errors[0];
  return (await import(`data:text/javascript,${encodeURIComponent(code)}`)).default;
}

/** The kinds of icu-minify's nodes: those with messages of their own, and the last of all. Tags have none. */
const [SELECT, SELECTORDINAL, TIME] = [1, 3, 6];

/** The names of the arguments and tags of a compiled message. */
function namesIn(message: unknown): string[] {
  const nodes = Array.isArray(message) ? message.filter(Array.isArray) : [];
  return nodes.flatMap(([name, kind, ...rest]) => {
    const isKind = typeof kind === "number" && kind >= SELECT && kind <= TIME;
    const within = !isKind ? [[kind, ...rest]] : kind <= SELECTORDINAL ? Object.values(rest[0]) : [];
    return [name, ...within.flatMap(namesIn)];
  });
}

/** What is wrong with the messages of a language, one sentence each. */
export function mistakesIn(language: string, messages: Messages, english: Messages): string[] {
  const namesOf = (message = "") => [...new Set(namesIn(compile(message)))].sort().join(", ") || "none";
  const missing = Object.keys(english).filter((key) => !messages[key]);
  const unknown = Object.keys(messages).filter((key) => !(key in english));
  const unlike = Object.keys(english).filter((key) => messages[key] && namesOf(messages[key]) !== namesOf(english[key]));
  return [
    ...missing.map((key) => `${language} has no words for ${key}`),
    ...unknown.map((key) => `${language} has words for ${key}, and English has none`),
    ...unlike.map((key) => `${key} needs ${namesOf(english[key])}, and has ${namesOf(messages[key])} in ${language}`),
  ];
}

type Plan = { english: Messages; keys: ReadonlySet<string>; atStart: ReadonlySet<string>; shortOf: (key: string) => string };

/** Which words the start of the page needs, and what the keys are called in the built page. */
async function makePlan(): Promise<Plan> {
  const english = await messagesOf("en");
  const keys = new Set(Object.keys(english));
  const modules = modulesOfPage();
  const uses = new Map([...modules].map(([path, program]) => [path, usesIn(program, keys)]));
  const start = [...modulesAtStart(join(SOURCE, "main.tsx"), modules)].flatMap((path) => uses.get(path) ?? []);
  const atStart = new Set(start.flatMap(({ literals, templated }) => [...literals.map(({ key }) => key), ...templated]));
  const templated = new Set([...uses.values()].flatMap((use) => use.templated));
  const short = new Map([...keys].map((key, index) => [key, isShort && !templated.has(key) ? index.toString(36) : key]));
  return { english, keys, atStart, shortOf: (key) => short.get(key) ?? key };
}

let made: Promise<Plan> | undefined;
/** The plan of the sources as they are, which several bundles share. */
const planned = () => (made ??= makePlan());
/** Whether keys are shortened, which spares the start of the page 1 kB. */
let isShort = false;

/** A language has two modules: the words that the start of the page needs, and with `?rest` all others. */
export const catalogues: Plugin = {
  name: "catalogues",
  enforce: "pre",
  config(_, { command }) {
    isShort = command === "build";
  },
  watchChange() {
    made = undefined;
  },
  async load(id) {
    const [path = "", query] = id.split("?");
    if (!path.startsWith(CATALOGUES)) return null;
    const { english, keys, atStart, shortOf } = await planned();
    const language = path.slice(CATALOGUES.length, -".ts".length);
    const messages = await messagesOf(language);
    const mistakes = mistakesIn(language, messages, english);
    if (mistakes.length) this.error(mistakes.join("\n"));
    const chosen = [...keys].filter((key) => atStart.has(key) === (query !== "rest"));
    const words = Object.fromEntries(chosen.map((key) => [shortOf(key), compile(messages[key] ?? "")]));
    return { code: `export default ${JSON.stringify(words)};`, moduleType: "js" };
  },
  async transform(code, id) {
    if (!isShort || !id.startsWith(SOURCE) || id.startsWith(CATALOGUES) || !/\.tsx?$/.test(id)) return null;
    const { keys, shortOf } = await planned();
    const { literals } = usesIn(parse(id, code), keys);
    for (const { key, start, end } of literals.toSorted((one, other) => other.start - one.start))
      code = `${code.slice(0, start)}"${shortOf(key)}"${code.slice(end)}`;
    return literals.length ? { code, map: null } : null;
  },
};
