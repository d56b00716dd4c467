// An image in a box sized before it is loaded; a click opens the lightbox.
import { useState } from "preact/hooks";
import { t } from "../language";
import { isDrawn, labelOf, ownAddress, type Attachment } from "./attachment";
import { useFiles } from "./context";
import { fit, sizeFrom, type Size } from "./fitting";
import { openImage } from "./pictures";

/** Size of the server's thumbnails, and the maximum bytes for which the original is shown inline. */
const THUMBNAIL = { width: 320, height: 320 };
const LARGEST = 8_000_000;
const UNKNOWN = { width: 320, height: 240 };

export function ImageView(p: { file: Attachment; max: Size; onBroken(): void }) {
  const files = useFiles();
  const [loaded, load] = useState(false);
  const box = fit(sizeFrom(p.file.pixels, UNKNOWN), p.max);
  return (
    <button
      type="button"
      className={loaded ? "file-picture" : "file-picture file-waiting"}
      aria-label={t("files.open", { label: labelOf(p.file) })}
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

/** The thumbnail if it is sharp enough, else the original. Animations always use the original. */
export function sourceOf(file: Attachment, box: Size): { src?: string | undefined; srcset?: string; sizes?: string } {
  const small = ownAddress(file.thumbnail);
  const large = isDrawn(file.media_type) && (file.size ?? 0) <= LARGEST ? ownAddress(file.url) : undefined;
  if (!small || !large || !file.pixels || file.media_type === "image/gif") return { src: large ?? small };
  const tiny = fit(sizeFrom(file.pixels, UNKNOWN), THUMBNAIL);
  if (tiny.width >= file.pixels[0]) return { src: large };
  return { src: small, srcset: `${listed(small)} ${tiny.width}w, ${listed(large)} ${file.pixels[0]}w`, sizes: `${box.width}px` };
}

/** Escapes a URL for `srcset`, where a comma or a space ends it. */
const listed = (address: string) => address.replace(/[\s,]/g, encodeURIComponent);
