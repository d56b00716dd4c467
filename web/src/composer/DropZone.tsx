// Accepts files dropped anywhere on the page, and shows an overlay while they hover.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { t } from "../language";
import { filesOf } from "./droppedFiles";
import { toast, UploadIcon } from "../ui";

export function DropZone({ onFiles }: { onFiles: (files: File[]) => void }) {
  const [over, setOver] = useState(false);
  const latest = useRef(onFiles);
  latest.current = onFiles;
  // Files may be dropped as soon as the page is drawn.
  useLayoutEffect(() => {
    let depth = 0;
    const carries = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
    const enter = (event: DragEvent) => {
      if (!carries(event)) return;
      depth++;
      setOver(true);
    };
    const leave = () => {
      depth = Math.max(0, depth - 1);
      if (depth === 0) setOver(false);
    };
    const hover = (event: DragEvent) => {
      if (!carries(event)) return;
      event.preventDefault();
      if (event.dataTransfer) event.dataTransfer.dropEffect = "copy";
    };
    const drop = (event: DragEvent) => {
      depth = 0;
      setOver(false);
      if (!event.dataTransfer || !carries(event)) return;
      event.preventDefault();
      void filesOf(event.dataTransfer).then(
        (files) => files.length > 0 && latest.current(files),
        () => toast(t("composer.folderUnreadable"), "bad"),
      );
    };
    window.addEventListener("dragenter", enter);
    window.addEventListener("dragleave", leave);
    window.addEventListener("dragover", hover);
    window.addEventListener("drop", drop);
    return () => {
      window.removeEventListener("dragenter", enter);
      window.removeEventListener("dragleave", leave);
      window.removeEventListener("dragover", hover);
      window.removeEventListener("drop", drop);
    };
  }, []);
  if (!over) return null;
  return (
    <div className="drop" aria-hidden="true">
      <div>
        <UploadIcon size={32} />
        {t("composer.drop")}
      </div>
    </div>
  );
}
