// What libraries bring and this page never runs, left out of its build. Most would fail loudly if they were run.
import type { Plugin } from "vite";

/** The chat client brings zod, and zod the writing of JSON schemas: 8 kB (gzip) at the page's start. */
export const withoutJsonSchemas: Plugin = {
  name: "without-json-schemas",
  transform(code, id) {
    if (!/\/zod\/v4\/core\/(json-schema-processors|to-json-schema)\.js$/.test(id)) return null;
    const names = [...code.matchAll(/^export (?:const|function) (\w+)/gm)].map(([, name]) => name);
    const refuse = `() => { throw new Error("This page writes no JSON schemas."); }`;
    const renamed = code.includes("export { processSchema as process }") ? "export { processSchema as process };" : "";
    return { code: names.map((name) => `export const ${name} = ${refuse};`).join("\n") + renamed, map: null };
  },
};

/** What zod says of a chunk that isn't one is read by nobody: its code is enough. 1 kB (gzip) at the page's start. */
export const withoutSentences: Plugin = {
  name: "without-sentences",
  transform: (_code, id) =>
    /\/zod\/v4\/locales\/en\.js$/.test(id)
      ? { code: "export default () => ({ localeError: ({ code }) => code });", map: null }
      : null,
};

const unused: Record<string, string> = {
  // HTML in markdown stays text here, so its parser isn't needed.
  "rehype-raw": `export default () => { throw new Error("This page renders no HTML of others."); };`,
  // Sorts class names of a CSS framework that this page doesn't have.
  "tailwind-merge": "export const twMerge = (names) => names;",
};

/** Streamdown brings an HTML parser and more: 55 kB (gzip) of what is loaded with the first answer. */
export const withoutUnused: Plugin = {
  name: "without-unused",
  enforce: "pre",
  resolveId: (name) => (name in unused ? `\0unused:${name}` : null),
  load: (id) => (id.startsWith("\0unused:") ? unused[id.slice("\0unused:".length)] : null),
};

/** KaTeX brings each font in three forms; every browser that this page runs in knows the first. */
export const withoutOldFonts: Plugin = {
  name: "without-old-fonts",
  enforce: "pre",
  transform: (code, id) =>
    /\/katex\/dist\/katex\.min\.css$/.test(id) ? replaced(code, [[/,url\([^)]+\.(?:woff|ttf)\) ?format\("[^"]+"\)/g, ""]]) : null,
};

/** The chat client makes some schemas with all of zod's methods, of which it needs one, and the others without: 10 kB
 *  (brotli) at the page's start. */
export const withoutMethods: Plugin = {
  name: "without-methods",
  transform(code, id) {
    if (/\/@ai-sdk\/provider-utils\/dist\/index\.js$/.test(id)) return replaced(code, [[ZOD, 'from "zod/v4/core"']]);
    if (!/\/node_modules\/ai\/dist\/index\.js$/.test(id)) return null;
    return replaced(code, [
      [ZOD, 'from "zod/v4/mini"'],
      [/(\w+Schema(?:\$1)?|\bz\.\w+\(\))\.optional\(\)/g, "z.optional($1)"],
      [/\bconst z = \{/g, `const ${PURE} = { optional,`],
      [/\bz\./g, `${PURE}.`],
    ]);
  },
};
/** What makes those schemas; the build leaves out those that nobody uses. */
export const PURE = "pureSchemas";
const ZOD = /from "zod\/v4"/g;

/** Raises an error if a library has changed, so that what it brings doesn't return unnoticed. */
function replaced(code: string, pairs: [from: RegExp, to: string][]) {
  for (const [from, to] of pairs) {
    if (code.search(from) < 0) throw new Error(`lean.ts: the library has no ${from} any more`);
    code = code.replaceAll(from, to);
  }
  return { code, map: null };
}
