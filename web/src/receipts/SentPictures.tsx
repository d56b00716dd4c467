// The images that were sent to the model, each with a lightbox; audio and other files as links.
import { isDrawn, momentOf, ownAddress, typeOf } from "../files/attachment";
import { numberedOf } from "../files";
import { view, type Picture } from "../files/viewing";
import { t } from "../language";
import type { Receipt, Variant } from "./receipts";

/** Maximum number of thumbnails; the lightbox has all images. */
const SHOWN = 12;
const UNKNOWN = { width: 1280, height: 960 };

export function SentPictures(p: { receipt: Receipt; original?: Picture }) {
  const label = numberedOf(p.receipt.kind, p.receipt.number);
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
          aria-label={t("receipts.openTitled", { title: picture.title })}
          onClick={() => view({ what: "pictures", pictures, at })}
        >
          <img src={picture.small ?? picture.large} alt="" width="88" height="88" loading="lazy" decoding="async" />
          {picture.note && !p.original && <span>{picture.note}</span>}
        </button>
      ))}
      {rest > 0 && <span className="file-quiet">{t("receipts.more", { count: rest })}</span>}
      {others.map((one) => (
        <a key={one.sha256} href={ownAddress(one.url)!} target="_blank" rel="noopener">
          {t("receipts.openTyped", { type: typeOf(one.media_type) })}
        </a>
      ))}
    </div>
  );
}

function pictureOfVariant(variant: Variant, label: string): Picture[] {
  const large = ownAddress(variant.url);
  const note = variant.page ? t("files.page", { page: variant.page }) : typeof variant.seconds === "number" ? momentOf(variant.seconds) : undefined;
  const title = note ? t("receipts.asSentPart", { label, part: note }) : t("receipts.asSent", { label });
  return large ? [{ large, title, note, ...UNKNOWN }] : [];
}
