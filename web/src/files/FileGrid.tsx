// The files of one message in order: consecutive images side by side, all others stacked.
import { useState } from "preact/hooks";
import { t } from "../language";
import { labelOf, type Attachment } from "./attachment";
import { useAnchor } from "./anchors";
import { Badge } from "./Badge";
import { useFiles } from "./context";
import { FileView } from "./FileView";
import { altOf, sourceOf } from "./ImageView";
import { openImage, pictureOf } from "./pictures";

const TILE = { width: 176, height: 176 };

export function FileGrid(p: { files: Attachment[] }) {
  const rows: [Attachment, ...Attachment[]][] = [];
  for (const file of p.files) {
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
    </div>
  );
}

const isTile = (file: Attachment) => file.kind === "image" && pictureOf(file) !== undefined;

function Tile(p: { file: Attachment }) {
  const { file } = p;
  const files = useFiles();
  const anchor = useAnchor<HTMLLIElement>(file.number);
  const [broken, breakDown] = useState(false);
  return (
    <li ref={anchor} className="file-tile" tabIndex={-1}>
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
            {...sourceOf(file, TILE)}
            {...TILE}
            alt={altOf(file)}
            loading="lazy"
            decoding="async"
            draggable={false}
            onError={() => breakDown(true)}
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
