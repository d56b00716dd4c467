// All conversations that have a file, as links to it.
import { numberedOf } from "../files";
import { t } from "../language";
import { at } from "../prefix";
import { follow, pathOf } from "../router";
import { Dialog } from "../ui";
import { titleOf } from "./FileRow";
import type { UsedFile } from "./useFileList";

export function Places({ file, onClose }: { file: UsedFile; onClose: () => void }) {
  return (
    <Dialog open onClose={onClose} title={t("allFiles.places", { name: file.name })} className="a-file-where">
      <ul>
        {file.places.map((place) => (
          <li key={place.file_id}>
            <a href={at(pathOf(place.conversation_id)) + `#file-${place.number}`} onClick={follow}>
              {titleOf(place.title)}
            </a>
            <span className="soft">{numberedOf(file.kind, place.number)}</span>
          </li>
        ))}
      </ul>
      {file.more_places > 0 && <p className="soft">{t("allFiles.morePlaces", { count: file.more_places })}</p>}
    </Dialog>
  );
}
