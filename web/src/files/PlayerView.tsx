// Audio and video in the browser's own players. Nothing is loaded before playback.
import { titleOf, ownAddress, type Attachment } from "./attachment";
import { fit, sizeFrom, type Size } from "./fitting";

const WIDE = { width: 480, height: 270 };

export function SoundView(p: { file: Attachment; onBroken(): void }) {
  return (
    <audio
      className="file-sound"
      controls
      preload="none"
      src={ownAddress(p.file.url)}
      aria-label={titleOf(p.file)}
      onError={p.onBroken}
    />
  );
}

export function FilmView(p: { file: Attachment; max: Size; onBroken(): void }) {
  const box = fit(sizeFrom(p.file.pixels, WIDE), p.max);
  const poster = ownAddress(p.file.thumbnail);
  return (
    <video
      className="file-film"
      controls
      playsInline
      preload={poster ? "none" : "metadata"}
      poster={poster}
      width={box.width}
      height={box.height}
      src={ownAddress(p.file.url)}
      aria-label={titleOf(p.file)}
      onError={p.onBroken}
    />
  );
}
