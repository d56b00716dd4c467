// The conversation's images in the lightbox's order.
import { sizeOf } from "../language";
import { downloadOf, isDeletable, isDrawn, isThere, measureOf, titleOf, ownAddress, partOf, type Attachment } from "./attachment";
import type { Files } from "./context";
import { sizeFrom } from "./fitting";
import { view, type Picture } from "./viewing";

const UNKNOWN = { width: 1280, height: 960 };

const DRAWING = "image/svg+xml";

/** The picture of an image or of an SVG; undefined if neither the browser nor the server can draw it. */
export function pictureOf(file: Attachment): Picture | undefined {
  const small = ownAddress(file.thumbnail);
  const isDrawing = file.media_type === DRAWING;
  const large = isDrawn(file.media_type) ? ownAddress(file.url) : isDrawing && small ? partOf(file, "pages/1") : small;
  if (!large || !isThere(file) || !(isDrawing || file.kind === "image")) return undefined;
  const note = [measureOf(file), sizeOf(file.size)].filter(Boolean).join(" · ");
  return { name: file.name, large, small, title: titleOf(file), note, download: downloadOf(file), ...sizeFrom(file.pixels, UNKNOWN) };
}

/** Opens an image with all others of its conversation. An image without a number is shown alone. */
export function openImage(file: Attachment, { files, attach, remove }: Files): void {
  const known = file.number !== null && files.get(file.number)?.id === file.id;
  const images = known ? [...files.values()] : [file];
  images.sort((one, other) => (one.number ?? 0) - (other.number ?? 0));
  const found = images.flatMap((image) => {
    const picture = pictureOf(image);
    if (!picture) return [];
    const onRemove = remove && isDeletable(image) ? () => remove(image) : undefined;
    return [{ id: image.id, picture: { ...picture, attach: attach ?? undefined, remove: onRemove } }];
  });
  const at = found.findIndex((one) => one.id === file.id);
  if (at >= 0) view({ what: "pictures", pictures: found.map((one) => one.picture), at });
}
