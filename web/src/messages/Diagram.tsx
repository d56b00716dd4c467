// A diagram: its source while that is written, then the drawing. Mermaid is loaded with the first one.
import { useContext, useEffect, useState } from "preact/hooks";
import { useIsCodeFenceIncomplete } from "streamdown";
import type { Drawing } from "../diagrams/draw";
import { view } from "../files/viewing";
import { t } from "../language";
import { loadWithRetry } from "../state/parts";
import { useTheme } from "../theme";
import { CodeIcon, IconButton } from "../ui";
import { Writing } from "./CodeBlock";
import { CopyButton } from "./CopyButton";

export function Diagram({ source }: { source: string }) {
  const isOpen = useIsCodeFenceIncomplete();
  const writing = useContext(Writing);
  const { picture, failed, fail } = useDrawing(source, writing && isOpen);
  const [showsSource, showSource] = useState(false);
  return (
    <div className="code">
      <div className="code-head">
        <span>{t(failed ? "messages.diagramFailed" : "messages.diagram")}</span>
        <span>
          {picture && (
            <IconButton
              small
              label={t("messages.showSource")}
              aria-pressed={showsSource}
              icon={<CodeIcon />}
              onClick={() => showSource(!showsSource)}
            />
          )}
          <CopyButton text={source} label={t("messages.copyCode")} />
        </span>
      </div>
      {picture && !showsSource ? (
        <button
          type="button"
          className="diagram-picture"
          aria-label={t("messages.openDiagram")}
          onClick={() => view({ what: "pictures", pictures: [{ ...picture, large: picture.address, download: picture.address }], at: 0 })}
        >
          <img src={picture.address} width={picture.width} height={picture.height} alt={picture.title} onError={fail} />
        </button>
      ) : (
        <pre tabIndex={0}>
          <code>{source}</code>
        </pre>
      )}
    </div>
  );
}

type Picture = Pick<Drawing, "width" | "height" | "title"> & { address: string };

/** Draws a source that is complete, and again when the page turns dark or light. */
function useDrawing(source: string, isIncomplete: boolean) {
  const theme = useTheme();
  const [picture, show] = useState<Picture | null>(null);
  const [failed, setFailed] = useState(false);
  const fail = () => {
    show(null);
    setFailed(true);
  };
  useEffect(() => {
    if (isIncomplete) return;
    let address = "";
    let here = true;
    const start = async () => {
      const { draw } = await loadWithRetry(() => import("../diagrams/draw"));
      if (!here) return;
      const { svg, width, height, title } = await draw(source);
      if (!here) return;
      address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
      show({ address, width, height, title: title || t("messages.diagram") });
      setFailed(false);
    };
    start().catch(() => here && fail());
    return () => {
      here = false;
      URL.revokeObjectURL(address);
    };
  }, [source, isIncomplete, theme]);
  return { picture, failed, fail };
}
