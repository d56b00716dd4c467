// A formula, drawn by KaTeX, which is loaded with the first one. Until then, and if it can't be drawn, its source is
// shown. What is copied of it is its source.
import { useEffect, useRef } from "preact/hooks";
import { loadWithRetry } from "../state/parts";

/** No links, pictures or HTML of others, and bounds on macros and sizes. https://katex.org/docs/options */
const options = { trust: false, strict: "ignore", maxExpand: 500, maxSize: 30, throwOnError: true } as const;

export function Formula({ source, isBlock }: { source: string; isBlock: boolean }) {
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    let here = true;
    const draw = async () => {
      const { default: katex } = await loadWithRetry(() => import("./katex"));
      if (!here || !place.current) return;
      const drawn = document.createElement("span");
      katex.render(source, drawn, { ...options, displayMode: isBlock });
      place.current.replaceChildren(drawn);
      place.current.classList.remove("formula-source");
    };
    draw().catch(() => undefined); // the source stays
    return () => {
      here = false;
    };
  }, [source, isBlock]);
  const className = `formula formula-source ${isBlock ? "formula-block" : ""}`;
  const marks = isBlock ? "$$" : "$";
  return (
    <span
      ref={place}
      key={source}
      data-source={marks + source + marks}
      className={className}
      tabIndex={isBlock ? 0 : undefined}
      dir="ltr"
    >
      {source}
    </span>
  );
}
