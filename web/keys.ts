// Which messages the modules of the page use, read from their source.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "rolldown/utils";

export type Node = { type: string; start: number; end: number } & Record<string, unknown>;

export const SOURCE = fileURLToPath(new URL("./src/", import.meta.url));
export const CATALOGUES = `${SOURCE}language/catalogues/`;

export const parse = (path: string, source: string): Node => parseSync(path, source).program as unknown as Node;

/** All modules of the page but the catalogues, by path. */
export function modulesOfPage(): Map<string, Node> {
  const names = readdirSync(SOURCE, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name));
  const paths = names.map((name) => join(SOURCE, name)).filter((path) => !path.startsWith(CATALOGUES));
  return new Map(paths.sort().map((path) => [path, parse(path, readFileSync(path, "utf8"))]));
}

/** Calls `visit` for a node and each one below it, with the nodes above. */
export function walk(node: Node, visit: (node: Node, above: readonly Node[]) => void, above: readonly Node[] = []): void {
  visit(node, above);
  const inner = [...above, node];
  for (const value of Object.values(node).flat())
    if (value && typeof value === "object" && "type" in value) walk(value as Node, visit, inner);
}

type Uses = { literals: { key: string; start: number; end: number }[]; templated: string[] };

/** The keys in a module: its strings, and those that templates such as `matrix.kind.${kind}` may become. */
export function usesIn(program: Node, keys: ReadonlySet<string>): Uses {
  const uses: Uses = { literals: [], templated: [] };
  walk(program, ({ type, start, end, value, quasis }) => {
    if (type === "Literal" && typeof value === "string" && keys.has(value)) uses.literals.push({ key: value, start, end });
    if (type !== "TemplateLiteral") return;
    const first = (quasis as { value: { cooked: string } }[])[0]?.value.cooked ?? "";
    if (/^\w+\.(\w+\.)?$/.test(first)) uses.templated.push(...[...keys].filter((key) => key.startsWith(first)));
  });
  return uses;
}

/** The modules that a module imports when it is loaded, with its own. Lazy imports and types don't count. */
export function modulesAtStart(entry: string, modules: ReadonlyMap<string, Node>, found = new Set<string>()): Set<string> {
  const program = modules.get(entry);
  if (!program || found.has(entry)) return found;
  found.add(entry);
  for (const node of program["body"] as Node[]) {
    const source = node["source"] as { value: string } | null | undefined;
    if (!source?.value.startsWith(".") || node["importKind"] === "type" || node["exportKind"] === "type") continue;
    const path = join(dirname(entry), source.value);
    const module = [`${path}.ts`, `${path}.tsx`, join(path, "index.ts")].find(existsSync);
    if (module) modulesAtStart(module, modules, found);
  }
  return found;
}
