import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

/** Where `showandtell serve` looks for the page. */
const page = fileURLToPath(new URL("../src/showandtell/server/page", import.meta.url));
/** In development the API is that of a server started beside vite. */
const server = process.env["SHOWANDTELL_URL"] ?? "http://127.0.0.1:8765";

/** The chat client brings zod, which brings the writing of JSON schemas: 6 kB that no page ever calls. */
const withoutJsonSchemas: Plugin = {
  name: "without-json-schemas",
  transform(code, id) {
    if (!/\/zod\/v4\/core\/(json-schema-processors|to-json-schema)\.js$/.test(id)) return null;
    const names = [...code.matchAll(/^export (?:const|function) (\w+)/gm)].map(([, name]) => name);
    const refuse = `() => { throw new Error("This page writes no JSON schemas."); }`;
    const renamed = code.includes("export { processSchema as process }") ? "export { processSchema as process };" : "";
    return { code: names.map((name) => `export const ${name} = ${refuse};`).join("\n") + renamed, map: null };
  },
};

export default defineConfig({
  plugins: [withoutJsonSchemas],
  resolve: {
    alias: [
      { find: /^react$/, replacement: "preact/compat" },
      { find: /^react-dom$/, replacement: "preact/compat" },
      { find: /^react\/jsx(-dev)?-runtime$/, replacement: "preact/jsx-runtime" },
    ],
  },
  build: {
    outDir: page,
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
    rolldownOptions: {
      // "use client" means nothing to a page that has no other side.
      onLog: (level, log, report) => log.code !== "MODULE_LEVEL_DIRECTIVE" && report(level, log),
    },
  },
  server: { host: "127.0.0.1", proxy: { "/api": server } },
});
