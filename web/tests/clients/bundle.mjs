// Bundles a client's page to a file: node bundle.mjs use_chat.jsx out.js
import { join } from "node:path";
import { rolldown } from "rolldown";

const [, , input, file] = process.argv;
const bundle = await rolldown({
  input: join(import.meta.dirname, input),
  logLevel: "silent",
  transform: { define: { "process.env.NODE_ENV": '"production"' }, jsx: { runtime: "automatic" } },
});
await bundle.write({ file, format: "esm", inlineDynamicImports: true });
