// The list of files that @ and # offer.
import type { useOffers } from "./useOffers";
import { ownAddress } from "../files/attachment";
import { FileIcon } from "../ui";

export function Offers({ offers }: { offers: ReturnType<typeof useOffers> }) {
  return (
    <ul className="offers" id="offers" role="listbox" aria-label="Files of this conversation">
      {offers.items.map((offer, index) => {
        const source = ownAddress(offer.file.thumbnail);
        return (
          <li
            key={offer.file.id}
            id={`offer-${index}`}
            role="option"
            aria-selected={index === offers.at}
            onMouseDown={(event) => {
              event.preventDefault(); // the cursor stays in the text
              offers.choose(offer);
            }}
          >
            <span className="offer-picture">
              {source ? <img src={source} alt="" width={36} height={36} loading="lazy" /> : <FileIcon size={18} />}
            </span>
            <strong>{offer.words}</strong>
            <span className="offer-name">{offer.file.name}</span>
          </li>
        );
      })}
    </ul>
  );
}
