// Several files of one message: images side by side, all others below each other.
import { useState } from "preact/hooks";
import { labelOf, type Attachment } from "./attachment";
import { useAnchor } from "./anchors";
import { Badge } from "./Badge";
import { useFiles } from "./context";
import { FileView } from "./FileView";
import { altOf, sourceOf } from "./ImageView";
import { openImage, pictureOf } from "./pictures";

const TILE = { width: 176, height: 176 };

export function FileGrid(p: { files: Attachment[] }) {
  const images = p.files.filter((file) => file.kind === "image" && pictureOf(file));
  const tiled = images.length > 1 ? images : [];
  const others = p.files.filter((file) => !tiled.includes(file));
  return (
    <div className="file-grid">
      {tiled.length > 0 && (
        <ul className="file-tiles" aria-label={`${tiled.length} images`}>
          {tiled.map((file) => (
            <Tile key={file.id} file={file} />
          ))}
        </ul>
      )}
      {others.map((file) => (
        <FileView key={file.id} file={file} />
      ))}
    </div>
  );
}

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
        aria-label={`Open ${labelOf(file)} in full`}
        onClick={() => openImage(file, files)}
      >
        {broken ? (
          <span className="file-quiet">This image can't be shown here.</span>
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
