// A document: the first page of a PDF, which opens the page view, or the text of other documents.
import { useState } from "preact/hooks";
import { t } from "../language";
import { Button } from "../ui";
import { labelOf, ownAddress, type Attachment } from "./attachment";
import { Card } from "./Card";
import { lazy } from "./lazy";
import { useBroken } from "./useBroken";
import { view } from "./viewing";

const TextView = lazy(() => import("./TextView").then((found) => found.TextView));

export function DocumentView(p: { file: Attachment }) {
  return p.file.media_type === "application/pdf" ? <Pdf file={p.file} /> : <Readable file={p.file} />;
}

function Pdf(p: { file: Attachment }) {
  const [broken, onBroken] = useBroken();
  const open = () => view({ what: "pages", file: p.file });
  const label = t("files.openNamed", { label: labelOf(p.file), name: p.file.name });
  if (broken || !p.file.thumbnail)
    return (
      <Card file={p.file}>
        <Button aria-label={label} onClick={open}>
          {t("files.openButton")}
        </Button>
      </Card>
    );
  return (
    <button type="button" className="file-picture file-page" aria-label={label} onClick={open}>
      <img
        src={ownAddress(p.file.thumbnail)}
        width="190"
        height="260"
        alt={t("files.firstPage", { name: p.file.name })}
        loading="lazy"
        decoding="async"
        onError={onBroken}
      />
    </button>
  );
}

/** Office documents: the text that the server extracts, loaded on demand. */
function Readable(p: { file: Attachment }) {
  const [open, show] = useState(false);
  if (open) return <TextView file={p.file} />;
  return (
    <Card file={p.file}>
      <Button
        onClick={(event) => {
          event.currentTarget.closest<HTMLElement>(".file")?.focus({ preventScroll: true }); // the button goes
          show(true);
        }}
      >
        {t("files.showText")}
      </Button>
    </Card>
  );
}
