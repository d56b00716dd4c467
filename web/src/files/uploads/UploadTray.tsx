// The files of the message that is being written, each with how far it has come and what can be done about it.
import "./tray.css";
import { IconButton } from "../../ui";
import { CloseIcon, RetryIcon, WarnIcon } from "../../ui/icons";
import { sizeOf } from "../attachment";
import { KindIcon } from "../KindIcon";
import type { Uploads } from "./useUploads";
import { isOpen, type Upload } from "./values";

export function UploadTray(p: { uploads: Uploads }) {
  const { items, remove, retry, problems } = p.uploads;
  return (
    <>
      <p className="unseen" role="status">
        {problems.join(" ")}
      </p>
      {items.length > 0 && (
        <ul className="tray" aria-label="Files of this message">
          {items.map((item) => (
            <Item key={item.key} item={item} remove={() => remove(item.key)} retry={() => retry(item.key)} />
          ))}
        </ul>
      )}
    </>
  );
}

function Item(p: { item: Upload; remove(): void; retry(): void }) {
  const { item } = p;
  return (
    <li className={`tray-item tray-${item.state}`}>
      <span className="tray-picture">
        <Sign item={item} />
      </span>
      <span className="tray-words">
        <span className="file-name" title={item.name}>
          {item.name}
        </span>
        {item.problem ? <span className="tray-problem">{item.problem}</span> : <span className="file-quiet">{stateOf(item)}</span>}
        {isOpen(item) && <progress max={Math.max(1, item.size)} value={item.done} aria-label={`Upload of ${item.name}`} />}
      </span>
      {item.state === "failed" && item.again && (
        <IconButton small label={`Try ${item.name} again`} icon={<RetryIcon />} onClick={p.retry} />
      )}
      <IconButton small label={`${isOpen(item) ? "Cancel" : "Remove"} ${item.name}`} icon={<CloseIcon />} onClick={p.remove} />
    </li>
  );
}

function Sign(p: { item: Upload }) {
  const { problem, preview, attachment } = p.item;
  if (problem) return <WarnIcon />;
  return preview ? <img src={preview} alt="" decoding="async" /> : <KindIcon kind={attachment?.kind ?? "other"} size={22} />;
}

function stateOf(item: Upload): string {
  if (item.state === "waiting") return `${sizeOf(item.size)}, waiting`;
  if (item.state !== "sending") return sizeOf(item.size);
  if (item.done >= item.size) return "being checked";
  return `${sizeOf(item.done)} of ${sizeOf(item.size)}`;
}
