// The list of files suggested after @ or #.
import { t } from "../language";
import type { useSuggestions } from "./useSuggestions";
import { labelOf, ownAddress } from "../files/attachment";
import { FileIcon } from "../ui";

export function Suggestions({ suggestions }: { suggestions: ReturnType<typeof useSuggestions> }) {
  return (
    <ul className="offers" id="offers" role="listbox" aria-label={t("composer.suggestions")}>
      {suggestions.items.map((suggestion, index) => {
        const source = ownAddress(suggestion.file.thumbnail);
        return (
          <li
            key={suggestion.file.id}
            id={`offer-${index}`}
            role="option"
            aria-selected={index === suggestions.at}
            onMouseDown={(event) => {
              event.preventDefault(); // keep the focus in the text box
              suggestions.choose(suggestion);
            }}
          >
            <span className="offer-picture">
              {source ? <img src={source} alt="" width={36} height={36} loading="lazy" /> : <FileIcon size={18} />}
            </span>
            <strong>{labelOf(suggestion.file)}</strong>
            <span className="offer-name">{suggestion.file.name}</span>
          </li>
        );
      })}
    </ul>
  );
}
