// Builds the document in which diagrams are drawn (src/diagrams/frame.ts): one file without links to others, because its
// sandbox has no origin that could load them. Its name holds the hash of its script, which the server's policy allows.
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import type { Plugin } from "vite";
import { collect } from "./packages.ts";

/** What draw.ts imports: the address of the document. */
const ADDRESS = "virtual:diagrams";
const FRAME = fileURLToPath(new URL("./src/diagrams/frame.ts", import.meta.url));

/** Large libraries that a diagram can do without: a second layout of flowcharts, and formulas in labels. */
const withoutExtras = {
  name: "without-extras",
  resolveId: (name: string) => (/^(elkjs|katex)\b/.test(name) ? "\0without" : null),
  load: (id: string) => (id === "\0without" ? "export default { renderToString: (text) => text.replaceAll('<', '&lt;') };" : null),
};

async function makeDocument(): Promise<{ name: string; html: string }> {
  const { output } = await build({
    input: FRAME,
    write: false,
    platform: "browser",
    plugins: [withoutExtras],
    output: { format: "iife", minify: true, codeSplitting: false },
  });
  collect(output[0].modules);
  // What would end the script, or begin a comment, in HTML.
  const script = output[0].code.replace(/<(?=\/script|!--)/gi, "\\x3c");
  if (/[\r\0]/.test(script)) throw new Error("diagrams.ts: browsers would read other characters than were hashed");
  const hash = createHash("sha256").update(script).digest("base64url");
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Diagrams</title><body><script>${script}</script></body></html>`;
  return { name: `diagrams-${hash}.html`, html };
}

export const diagrams: Plugin = {
  name: "diagrams",
  configureServer({ middlewares }) {
    middlewares.use("/diagrams.html", (_, response) => {
      void makeDocument().then(({ html }) => response.setHeader("content-type", "text/html").end(html));
    });
  },
  resolveId: (name) => (name === ADDRESS ? `\0${ADDRESS}` : null),
  async load(id) {
    if (id !== `\0${ADDRESS}`) return null;
    if (this.meta.watchMode) return "export default '/diagrams.html';";
    const { name, html } = await makeDocument();
    this.emitFile({ type: "asset", fileName: `assets/${name}`, source: html });
    return `const name = "${name}"; export default new URL(name, import.meta.url).href;`;
  },
};
