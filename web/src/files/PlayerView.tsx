// Sound and film in the browser's own players; nothing is loaded before somebody plays them.
import { labelOf, ownAddress, type Attachment } from "./attachment";
import { fit, sizeFrom, type Size } from "./fitting";

const WIDE = { width: 480, height: 270 };

export function SoundView(p: { file: Attachment; onBroken(): void }) {
  return (
    <audio
      className="file-sound"
      controls
      preload="none"
      src={ownAddress(p.file.url)}
      aria-label={`${labelOf(p.file)}: ${p.file.name}`}
      onError={p.onBroken}
    />
  );
}

export function FilmView(p: { file: Attachment; most: Size; onBroken(): void }) {
  const box = fit(sizeFrom(p.file.pixels, WIDE), p.most);
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
      aria-label={`${labelOf(p.file)}: ${p.file.name}`}
      onError={p.onBroken}
    />
  );
}
