// Code in colours. The grammars are loaded with the first code; until then, and for languages that they don't know, it
// is plain.
import type { ElementContent, Root } from "hast";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { loadWithRetry } from "../state/parts";

type Highlight = (language: string, code: string) => Root | null;

let highlight: Highlight | null = null;
let loading: Promise<unknown> | null = null;
/** Longer code stays plain; longer code than the second limit gets its colours when it is complete. */
const MAX_LENGTH = 200_000;
const MAX_WHILE_WRITING = 8_000;

function load(): Promise<unknown> {
  loading ??= loadWithRetry(() => import("./highlight")).then(
    (module) => {
      highlight = module.highlight;
    },
    () => {
      loading = null;
    },
  );
  return loading;
}

export function Highlighted({ language, code, writing }: { language: string; code: string; writing: boolean }) {
  const [ready, setReady] = useState(highlight !== null);
  useEffect(() => {
    if (!ready) void load().then(() => setReady(highlight !== null));
  }, [ready]);
  const isPlain = code.length > (writing ? MAX_WHILE_WRITING : MAX_LENGTH);
  const tree = ready && highlight && !isPlain ? highlight(language, code) : null;
  return <code>{tree ? tree.children.map(element) : code}</code>;
}

/** highlight.js makes texts and spans with class names. */
function element(node: Root["children"][number] | ElementContent): ComponentChildren {
  if (node.type === "text") return node.value;
  if (node.type !== "element") return null;
  const names = node.properties["className"];
  return <span className={Array.isArray(names) ? names.join(" ") : ""}>{node.children.map(element)}</span>;
}
