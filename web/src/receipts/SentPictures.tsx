// The images that were sent to the model, each with a lightbox; audio and other files as links.
import { isDrawn, momentOf, ownAddress, typeOf } from "../files/attachment";
import { referenceText } from "../files";
import { view, type Picture } from "../files/viewing";
import type { Receipt, Variant } from "./receipts";

/** Maximum number of thumbnails; the lightbox has all images. */
const SHOWN = 12;
const UNKNOWN = { width: 1280, height: 960 };

export function SentPictures(p: { receipt: Receipt; original?: Picture }) {
  const label = referenceText(p.receipt.kind, p.receipt.number);
  const others = p.receipt.variants.filter((one) => !isDrawn(one.media_type) && ownAddress(one.url));
  const drawn = p.receipt.variants.filter((one) => isDrawn(one.media_type));
  const pictures = p.original ? [p.original] : drawn.flatMap((one) => pictureOfVariant(one, label));
  const rest = pictures.length - SHOWN;
  return (
    <div className="receipts-sent">
      {pictures.slice(0, SHOWN).map((picture, at) => (
        <button
          key={picture.large}
          type="button"
          className="receipts-picture"
          aria-label={`Open what was sent: ${picture.title}`}
          onClick={() => view({ what: "pictures", pictures, at })}
        >
          <img src={picture.small ?? picture.large} alt="" width="88" height="88" loading="lazy" decoding="async" />
          {picture.note && !p.original && <span>{picture.note}</span>}
        </button>
      ))}
      {rest > 0 && <span className="file-quiet">and {rest} more</span>}
      {others.map((one) => (
        <a key={one.sha256} href={ownAddress(one.url)!} target="_blank" rel="noopener">
          Open what was sent ({typeOf(one.media_type)})
        </a>
      ))}
    </div>
  );
}

function pictureOfVariant(variant: Variant, label: string): Picture[] {
  const large = ownAddress(variant.url);
  const note = variant.page ? `page ${variant.page}` : typeof variant.seconds === "number" ? momentOf(variant.seconds) : undefined;
  return large ? [{ large, title: `${label} as it was sent${note ? `, ${note}` : ""}`, note, ...UNKNOWN }] : [];
}
