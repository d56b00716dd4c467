import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { catalogues } from "./catalogues.ts";
import { compressed } from "./compressed.ts";
import { diagrams } from "./diagrams.ts";
import { PURE, withoutJsonSchemas, withoutMethods, withoutOldFonts, withoutSentences, withoutUnused } from "./lean.ts";
import { packages } from "./packages.ts";

/** Where `showandtell serve` looks for the page. */
const page = fileURLToPath(new URL("../src/showandtell/server/page", import.meta.url));
/** In development the API is that of a server started beside vite. */
const server = process.env["SHOWANDTELL_URL"] ?? "http://127.0.0.1:8765";

export default defineConfig({
  plugins: [catalogues, diagrams, withoutJsonSchemas, withoutMethods, withoutOldFonts, withoutSentences, withoutUnused, packages, compressed],
  resolve: {
    alias: [
      { find: /^react$/, replacement: "preact/compat" },
      { find: /^react-dom$/, replacement: "preact/compat" },
      { find: /^react\/jsx(-dev)?-runtime$/, replacement: "preact/jsx-runtime" },
    ],
  },
  // The page may be below any prefix: its scripts load each other by relative addresses.
  base: "./",
  build: {
    outDir: page,
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
    rolldownOptions: {
      checks: { pluginTimings: false },
      treeshake: { manualPureFunctions: [PURE] },
      // All that the page starts with is one file: each further one costs its headers, and compresses worse.
      output: { codeSplitting: { groups: [{ name: "index", tags: ["$initial"] }] } },
      // "use client" means nothing to a page that has no other side, and unzipit's threads of Node are for Node alone.
      onLog: (level, log, report) =>
        log.code !== "MODULE_LEVEL_DIRECTIVE" && !log.message.includes('"node:worker_threads"') && report(level, log),
    },
  },
  server: { host: "127.0.0.1", proxy: { "/api": server } },
});
