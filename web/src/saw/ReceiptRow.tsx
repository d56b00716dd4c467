/** One file in one step: what the model was given of it, why, and how we know that it works. */
import { labelOf, ownAddress, type Attachment } from "../files/attachment";
import { Badge } from "../files/Badge";
import { pictureOf } from "../files/pictures";
import { lazily } from "../files/lazily";
import { KindIcon } from "../files/KindIcon";
import { spoken } from "../files";
import { Chip } from "./Chip";
import { SentPictures } from "./SentPictures";
import type { Receipt } from "./told";
import { bytesOf, fateOf, piecesOf, placeOf } from "./words";

const TextView = lazily(() => import("../files/TextView").then((found) => found.TextView));

export function ReceiptRow(p: { receipt: Receipt; file: Attachment | undefined }) {
  const { receipt, file } = p;
  const facts = [placeOf(receipt), ...piecesOf(receipt), bytesOf(receipt)].filter(Boolean).join(" · ");
  return (
    <li class="saw-row">
      <div class="saw-head">
        {file ? <Badge file={file} /> : <span class="file-badge">{spoken(receipt.kind, receipt.number)}</span>}
        <KindIcon kind={receipt.kind} />
        <span class="file-name" title={receipt.name}>
          {receipt.name}
        </span>
        <Chip fate={fateOf(receipt)} />
      </div>
      <Sent receipt={receipt} file={file} />
      {facts && <p class="saw-facts">{facts}</p>}
      <p class="saw-why">{receipt.reason}</p>
      {receipt.evidence && (
        <p class="saw-known">
          Known by <Evidence text={receipt.evidence} />
        </p>
      )}
    </li>
  );
}

/** What was sent, as far as it can be looked at: conversions, or the original, or the words that stood for it. */
function Sent(p: { receipt: Receipt; file: Attachment | undefined }) {
  const { receipt, file } = p;
  if (receipt.variants.length) return <SentPictures receipt={receipt} />;
  if (!file || (receipt.delivery !== "native" && receipt.delivery !== "relocated")) return null;
  if (receipt.converted) return receipt.cell === null ? <Words file={file} /> : null;
  const picture = pictureOf(file) ?? firstPage(file);
  return picture ? <SentPictures receipt={receipt} original={picture} /> : null;
}

/** A document goes as it is; its first page stands for it. */
function firstPage(file: Attachment) {
  const small = ownAddress(file.thumbnail);
  return small ? { large: small, small, title: `${labelOf(file)}: ${file.name}`, width: 320, height: 320 } : undefined;
}

function Words(p: { file: Attachment }) {
  return (
    <details class="saw-words">
      <summary>Its words, which were sent in its place</summary>
      <TextView file={p.file} />
    </details>
  );
}

/** Where we know it from; an address in it can be followed. */
function Evidence(p: { text: string }) {
  const pieces = p.text.split(/(https:\/\/[^\s()]+)/);
  return (
    <>
      {pieces.map((piece, at) =>
        at % 2 ? (
          <a key={at} href={piece} target="_blank" rel="noopener noreferrer nofollow">
            {piece}
          </a>
        ) : (
          piece
        ),
      )}
    </>
  );
}
