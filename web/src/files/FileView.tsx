// One file in the conversation: its preview or player, and its caption.
import { t } from "../language";
import { isThere, labelOf, titleOf, typeOf, type Attachment } from "./attachment";
import { useAnchor } from "./anchors";
import { Card } from "./Card";
import { DocumentView } from "./DocumentView";
import { FileLine } from "./FileLine";
import type { Size } from "./fitting";
import { ImageView } from "./ImageView";
import { lazy } from "./lazy";
import { pictureOf } from "./pictures";
import { FilmView, SoundView } from "./PlayerView";
import { useBroken } from "./useBroken";

const TextView = lazy(() => import("./TextView").then((found) => found.TextView));

/** The width of the text, which a chart needs to be read. */
const IN_ANSWER = { width: 736, height: 520 };
/** Smaller, so that the question stays visible below its files. */
const UPLOADED = { width: 440, height: 200 };

/** `caption`: the model's text for it. */
export function FileView(p: { file: Attachment; caption?: string | undefined }) {
  const anchor = useAnchor(p.file.number);
  const caption = captionOf(p.caption || p.file.description, p.file);
  const max = p.file.origin.by === "user" ? UPLOADED : IN_ANSWER;
  return (
    <figure ref={anchor} className="file" tabIndex={-1} aria-label={titleOf(p.file)}>
      <Sight file={p.file} max={max} />
      <figcaption>
        {caption && <p className="file-caption">{caption}</p>}
        <FileLine file={p.file} />
        {p.file.corrected && (
          <p className="file-quiet">{t("files.corrected", { claimed: typeOf(p.file.corrected), type: typeOf(p.file.media_type) })}</p>
        )}
      </figcaption>
    </figure>
  );
}

/** A caption that says more than the file's name and number do, which are shown below it. */
function captionOf(caption: string | null, file: Attachment): string | null {
  const plain = (text: string) => text.toLowerCase().replace(/\.\w+$/, "").replace(/[\W_]+/g, " ").trim();
  const known = [file.name, labelOf(file), titleOf(file)].map(plain);
  return caption && !known.includes(plain(caption)) ? caption : null;
}

/** Preview of a file. Never renders the file's own markup. */
function Sight(p: { file: Attachment; max: Size }) {
  const [broken, onBroken] = useBroken();
  const { file, max } = p;
  if (broken && file.kind !== "text") return <Card file={file} says={t("files.broken")} />;
  if (!isThere(file)) return <Card file={file} />;
  switch (file.kind) {
    case "image":
      return pictureOf(file) ? <ImageView file={file} max={max} onBroken={onBroken} /> : <Card file={file} />;
    case "document":
      return <DocumentView file={file} />;
    case "audio":
      return <SoundView file={file} onBroken={onBroken} />;
    case "video":
      return <FilmView file={file} max={max} onBroken={onBroken} />;
    case "text":
      if (broken || !pictureOf(file)) return <TextView file={file} />;
      return (
        <>
          <ImageView file={file} max={max} onBroken={onBroken} />
          <details className="file-source">
            <summary>{t("files.source")}</summary>
            <TextView file={file} />
          </details>
        </>
      );
    case "other":
      return <Card file={file} />;
  }
}
