// The files of one message in order: consecutive images side by side in rows of one height, all others stacked.
import { useState } from "preact/hooks";
import { t } from "../language";
import { labelOf, type Attachment } from "./attachment";
import { Button } from "../ui";
import { useAnchor, useFolded } from "./anchors";
import { Badge } from "./Badge";
import { useFiles } from "./context";
import { FileView } from "./FileView";
import { sizeFrom } from "./fitting";
import { altOf, sourceOf } from "./ImageView";
import { openImage, pictureOf } from "./pictures";
import { useBroken } from "./useBroken";

/** The height of a row of images, in pixels, before the row is stretched to the width of the text. */
const ROW = 176;
/** Width divided by height of the widest and of the narrowest box; images beyond have a margin. */
const WIDEST = 3;
const NARROWEST = 0.4;
/** With more files than the first, all but the second are folded. */
const MANY = 12;
const SHOWN = 9;

export function FileGrid(p: { files: Attachment[] }) {
  const [whole, setWhole] = useState(false);
  const shown = whole || p.files.length <= MANY ? p.files : p.files.slice(0, SHOWN);
  const rest = p.files.slice(shown.length);
  const unfold = () => setWhole(true);
  useFolded(rest.map((file) => file.number), unfold);
  const rows: [Attachment, ...Attachment[]][] = [];
  for (const file of shown) {
    const row = rows.at(-1);
    if (row && isTile(file) && isTile(row[0])) row.push(file);
    else rows.push([file]);
  }
  return (
    <div className="file-grid">
      {rows.map((row) =>
        row.length > 1 ? (
          <ul key={row[0].id} className="file-tiles" aria-label={t("files.images", { count: row.length })}>
            {row.map((file) => (
              <Tile key={file.id} file={file} />
            ))}
          </ul>
        ) : (
          <FileView key={row[0].id} file={row[0]} />
        ),
      )}
      {rest.length > 0 && <Button onClick={unfold}>{t("files.more", { count: rest.length })}</Button>}
    </div>
  );
}

const UNKNOWN = { width: 4, height: 3 };

const isTile = (file: Attachment) => file.kind === "image" && pictureOf(file) !== undefined;

function Tile(p: { file: Attachment }) {
  const { file } = p;
  const files = useFiles();
  const anchor = useAnchor<HTMLLIElement>(file.number);
  const [broken, onBroken] = useBroken();
  const pixels = sizeFrom(file.pixels, UNKNOWN);
  const ratio = Math.min(WIDEST, Math.max(NARROWEST, pixels.width / pixels.height));
  const box = { width: Math.round(ROW * ratio), height: ROW };
  return (
    <li ref={anchor} className="file-tile" style={{ "--ratio": ratio.toFixed(3) }} tabIndex={-1}>
      <button
        type="button"
        className="file-picture"
        aria-label={t("files.open", { label: labelOf(file) })}
        onClick={() => openImage(file, files)}
      >
        {broken ? (
          <span className="file-quiet">{t("files.imageBroken")}</span>
        ) : (
          <img
            {...sourceOf(file, box)}
            {...box}
            alt={altOf(file)}
            loading="lazy"
            decoding="async"
            draggable={false}
            onError={onBroken}
          />
        )}
      </button>
      <span className="file-tile-line">
        <Badge file={file} />
        <span className="file-name" title={file.name}>
          {file.name}
        </span>
      </span>
    </li>
  );
}
