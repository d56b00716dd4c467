// A file of the list: its picture, name and facts, and where it is used.
import { memo } from "preact/compat";
import { measureOf, ownAddress, typeOf } from "../files/attachment";
import { KindIcon } from "../files/KindIcon";
import { openImage, pictureOf } from "../files/pictures";
import { useBroken } from "../files/useBroken";
import { view } from "../files/viewing";
import { dayOf, sizeOf, t } from "../language";
import { at } from "../prefix";
import { follow, pathOf } from "../router";
import type { UsedFile } from "./useFileList";

/** Opens a picture alone: the others of its conversation aren't loaded. */
const ALONE = { files: new Map(), insertReference: null, attach: null, remove: null };

type Props = {
  file: UsedFile;
  index: number;
  /** How many there are; -1: unknown. */
  count: number;
  checked: boolean;
  onCheck: (index: number, checked: boolean, toThere: boolean) => void;
  onPlaces: (file: UsedFile) => void;
};

export const FileRow = memo(function FileRow({ file, index, count, checked, onCheck, onPlaces }: Props) {
  const [place] = file.places;
  const others = file.places.length + file.more_places - 1;
  return (
    <li className={checked ? "a-file a-file-checked" : "a-file"} style={{ "--at": index }} data-at={index} aria-posinset={index + 1} aria-setsize={count}>
      <label className="a-file-check">
        <input
          type="checkbox"
          data-stop="check"
          checked={checked}
          aria-label={t("allFiles.select", { name: file.name })}
          aria-keyshortcuts="Delete"
          onClick={(event) => onCheck(index, event.currentTarget.checked, event.shiftKey)}
        />
      </label>
      <Thumbnail file={file} />
      <p className="a-file-name">
        <a data-stop="name" href={at(pathOf(place?.conversation_id ?? "")) + `#file-${place?.number}`} title={file.name} onClick={follow}>
          {file.name}
        </a>
      </p>
      <p className="a-file-facts">
        {[typeOf(file.media_type), sizeOf(file.size), dayOf(file.date), measureOf(file)].filter(Boolean).join(" · ")}
      </p>
      <p className="a-file-places">
        <span className="unseen">{t("allFiles.usedIn")}</span>
        <a data-stop="place" href={at(pathOf(place?.conversation_id ?? ""))} title={titleOf(place?.title)} onClick={follow}>
          {titleOf(place?.title)}
        </a>
        {others > 0 && (
          <button type="button" data-stop="places" aria-label={t("allFiles.moreOf", { count: others, name: file.name })} onClick={() => onPlaces(file)}>
            {t("allFiles.more", { count: others })}
          </button>
        )}
      </p>
    </li>
  );
});

export const titleOf = (title = "") => title || t("sidebar.untitled");

function Thumbnail({ file }: { file: UsedFile }) {
  const [broken, onBroken] = useBroken();
  const address = ownAddress(file.thumbnail);
  const drawn =
    address && !broken ? (
      <img src={address} alt="" loading="lazy" decoding="async" draggable={false} onError={onBroken} />
    ) : (
      <KindIcon kind={file.kind} size={22} />
    );
  const open = openerOf(file);
  if (!open) return <span className="a-file-picture">{drawn}</span>;
  return (
    <button type="button" data-stop="picture" className="a-file-picture" aria-label={t("allFiles.open", { name: file.name })} onClick={open}>
      {drawn}
    </button>
  );
}

function openerOf(file: UsedFile): (() => void) | null {
  if (pictureOf(file)) return () => openImage(file, ALONE);
  return file.media_type === "application/pdf" ? () => view({ what: "pages", file }) : null;
}
