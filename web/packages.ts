// Lists the npm packages whose code goes into the page, with their licences, for hatch_build.py: build/packages.json.
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

const LIST = fileURLToPath(new URL("../build/packages.json", import.meta.url));
const LICENCE = /^(un)?licen[cs]e|^copying|^notice/i;

interface Package {
  name: string;
  version: string;
  license: string;
  author: string;
  /** The texts of its files of licences and notices. */
  texts: string[];
}

const found = new Map<string, Package>();

function read(folder: string): Package {
  const { name, version, license = "", author = "" } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const files = readdirSync(folder).filter((file) => LICENCE.test(file)).sort();
  return { name, version, license, author: author.name ?? author, texts: files.map((file) => readFileSync(join(folder, file), "utf8").trim()) };
}

/** The folder of the package that a module is from; nothing for our own modules. */
function folderOf(id: string): string | undefined {
  return /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1];
}

/** Remember the packages of a chunk's modules. Styles leave no code in it, but go into the page all the same. */
export function collect(modules: Record<string, { renderedLength: number }>): void {
  for (const [id, { renderedLength }] of Object.entries(modules)) {
    const folder = folderOf(id);
    if (folder !== undefined && (renderedLength > 0 || id.includes(".css")) && !found.has(folder)) found.set(folder, read(folder));
  }
}

export const packages: Plugin = {
  name: "packages",
  apply: "build",
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle)) if (chunk.type === "chunk") collect(chunk.modules);
  },
  writeBundle() {
    const list = [...found.values()].sort((a, b) => (`${a.name}@${a.version}` < `${b.name}@${b.version}` ? -1 : 1));
    mkdirSync(dirname(LIST), { recursive: true });
    writeFileSync(LIST, `${JSON.stringify(list, null, 1)}\n`);
  },
};
