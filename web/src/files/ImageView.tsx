// An image in a box whose size is known before it is loaded; a click opens it in full.
import { useState } from "preact/hooks";
import { isDrawn, labelOf, ownAddress, type Attachment } from "./attachment";
import { useFiles } from "./context";
import { fit, sizeFrom, type Size } from "./fitting";
import { openImage } from "./pictures";

/** The side of the server's thumbnails, and the most bytes for which the original is shown in the text. */
const THUMBNAIL = { width: 320, height: 320 };
const LARGEST = 8_000_000;
const UNKNOWN = { width: 320, height: 240 };

export function ImageView(p: { file: Attachment; most: Size; onBroken(): void }) {
  const files = useFiles();
  const [loaded, load] = useState(false);
  const box = fit(sizeFrom(p.file.pixels, UNKNOWN), p.most);
  return (
    <button
      type="button"
      className={loaded ? "file-picture" : "file-picture file-waiting"}
      aria-label={`Open ${labelOf(p.file)} in full`}
      onClick={() => openImage(p.file, files)}
    >
      <img
        {...sourceOf(p.file, box)}
        width={box.width}
        height={box.height}
        alt={altOf(p.file)}
        loading="lazy"
        decoding="async"
        draggable={false}
        onLoad={() => load(true)}
        onError={p.onBroken}
      />
    </button>
  );
}

export function altOf(file: Attachment): string {
  return file.description ?? file.name;
}

/** The thumbnail where it is sharp enough, else the original; an animation always moves. */
export function sourceOf(file: Attachment, box: Size): { src?: string | undefined; srcset?: string; sizes?: string } {
  const small = ownAddress(file.thumbnail);
  const large = isDrawn(file.media_type) && (file.size ?? 0) <= LARGEST ? ownAddress(file.url) : undefined;
  if (!small || !large || !file.pixels || file.media_type === "image/gif") return { src: large ?? small };
  const tiny = fit(sizeFrom(file.pixels, UNKNOWN), THUMBNAIL);
  if (tiny.width >= file.pixels[0]) return { src: large };
  return { src: small, srcset: `${listed(small)} ${tiny.width}w, ${listed(large)} ${file.pixels[0]}w`, sizes: `${box.width}px` };
}

/** An address among others: a comma or a space in a name would end it there. */
const listed = (address: string) => address.replace(/[\s,]/g, encodeURIComponent);
