// Markdown. The renderer is loaded on demand and runs only near the viewport; until then the text is plain.
import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { loadPart } from "../state/parts";
import { watchNearby } from "./nearby";
import type { RenderedProps } from "./renderedProps";

let Rendered: ComponentType<RenderedProps> | null = null;
let loading: Promise<unknown> | null = null;

function load(): Promise<unknown> {
  loading ??= loadPart(() => import("./Rendered")).then(
    (module) => {
      Rendered = module.Rendered;
    },
    () => {
      loading = null; // the plain text stays; the next text retries
    },
  );
  return loading;
}

export function Markdown({ text, marked = text, writing }: RenderedProps) {
  const [ready, setReady] = useState(writing && Rendered !== null);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = box.current;
    if (ready || !element) return;
    let here = true;
    const leave = watchNearby(element, (isNear) => {
      if (isNear) void load().then(() => here && Rendered && setReady(true));
    });
    return () => {
      here = false;
      leave();
    };
  }, [ready]);
  return (
    <div ref={box} className={`prose ${ready ? "" : "prose-plain"}`} dir="auto">
      {ready && Rendered ? <Rendered text={marked} writing={writing} /> : text}
    </div>
  );
}
