// One file in one step: how it was sent to the model, why, and the evidence.
import { isThere, labelOf, ownAddress, type Attachment } from "../files/attachment";
import { Badge } from "../files/Badge";
import { pictureOf } from "../files/pictures";
import { KindIcon } from "../files/KindIcon";
import { lazy } from "../files/lazy";
import { view } from "../files/viewing";
import { numberedOf } from "../files";
import { rich, t } from "../language";
import { at } from "../prefix";
import { follow } from "../router";
import { Chip } from "./Chip";
import { Evidence } from "./Evidence";
import { SentPictures } from "./SentPictures";
import type { Receipt } from "./receipts";
import { bytesOf, deliveryOf, piecesOf, placeOf } from "./words";

const TextView = lazy(() => import("../files/TextView").then((module) => module.TextView));

export function ReceiptRow(p: { receipt: Receipt; file: Attachment | undefined; model: string | undefined }) {
  const { receipt, file } = p;
  const facts = [placeOf(receipt), ...piecesOf(receipt), bytesOf(receipt)].filter(Boolean).join(" · ");
  return (
    <li className="receipts-row">
      <div className="receipts-head">
        {file ? <Badge file={file} /> : <span className="file-badge">{numberedOf(receipt.kind, receipt.number)}</span>}
        <KindIcon kind={receipt.kind} />
        <span className="file-name" title={receipt.name}>
          {receipt.name}
        </span>
        <Chip delivery={deliveryOf(receipt)} />
      </div>
      <Sent receipt={receipt} file={file} />
      {facts && <p className="receipts-facts">{facts}</p>}
      <p className="receipts-why" lang="en">
        {receipt.reason}
      </p>
      {receipt.evidence && (
        <div className="receipts-known">
          {rich("receipts.howWeKnow", { evidence: () => <Evidence text={receipt.evidence ?? ""} folded /> })}
          {p.model && (
            <>
              {" · "}
              <a href={at(`/matrix#${new URLSearchParams({ model: p.model })}`)} onClick={follow}>
                {t("receipts.whatThisModelSees")}
              </a>
            </>
          )}
        </div>
      )}
    </li>
  );
}

/** What was sent, if it can be displayed: converted files, the original, or its text. */
function Sent(p: { receipt: Receipt; file: Attachment | undefined }) {
  const { receipt, file } = p;
  if (file?.state === "deleted") return <p className="receipts-facts">{t("receipts.deleted")}</p>;
  if (receipt.variants.length) return <SentPictures receipt={receipt} />;
  if (!file || (receipt.delivery !== "native" && receipt.delivery !== "relocated")) return null;
  if (receipt.converted) return receipt.cell === null ? <Words file={file} /> : null;
  return <Original receipt={receipt} file={file} />;
}

/** The file itself was sent: its image, its pages, or its bytes. */
function Original(p: { receipt: Receipt; file: Attachment }) {
  const { receipt, file } = p;
  const [small, large] = [ownAddress(file.thumbnail), ownAddress(file.url)];
  const label = labelOf(file);
  const picture = file.kind === "image" ? pictureOf(file) : undefined;
  if (picture) return <SentPictures receipt={receipt} original={picture} />;
  if (small && file.media_type === "application/pdf")
    return (
      <button type="button" className="receipts-picture" aria-label={t("receipts.openLabel", { label })} onClick={() => view({ what: "pages", file })}>
        <img src={small} alt="" width="88" height="88" loading="lazy" decoding="async" />
      </button>
    );
  return large && isThere(file) ? (
    <a className="receipts-link" href={large} target="_blank" rel="noopener">
      {t("receipts.open")}
    </a>
  ) : null;
}

function Words(p: { file: Attachment }) {
  return (
    <details className="receipts-words">
      <summary>{t("receipts.itsText")}</summary>
      <TextView file={p.file} />
    </details>
  );
}
