// The files of the current draft, each with its progress and actions.
import "./tray.css";
import { factsOf, sizeOf, t } from "../../language";
import { IconButton } from "../../ui";
import { CloseIcon, RetryIcon, WarnIcon } from "../../ui/icons";
import type { Model } from "../../types";
import { KindIcon } from "../KindIcon";
import { outcomeOf } from "./outcome";
import type { Uploads } from "./useUploads";
import { isOpen, type Upload } from "./values";

/** `model`: the selected model, if known. */
export function UploadTray(p: { uploads: Uploads; model: Model | undefined }) {
  const { remove, retry } = p.uploads;
  const items = p.uploads.items.map((one) => judge(one, p.model));
  const problems = items.flatMap((one) => (one.problem ? [t("uploads.problem", { name: one.name, problem: one.problem })] : []));
  const later = items.filter((one) => one.state === "later");
  const rank = (one: Upload) => (one.problem ? 0 : 1); // problems first, so that they aren't overlooked
  const shown = items.filter((one) => one.state !== "later").sort((one, other) => rank(one) - rank(other));
  return (
    <>
      <p className="unseen" role="status">
        {problems.join(" ")}
      </p>
      {items.length > 0 && (
        <ul className="tray" aria-label={t("uploads.list")}>
          {later.length > 0 && <Later items={later} taken={shown.filter((one) => one.state !== "refused").length} remove={remove} />}
          {shown.map((item) => (
            <Item key={item.key} item={item} remove={() => remove(item.key)} retry={() => retry(item.key)} />
          ))}
        </ul>
      )}
    </>
  );
}

/** One line for the files beyond the limit of one message. */
function Later(p: { items: Upload[]; taken: number; remove(key: string): void }) {
  return (
    <li className="tray-item tray-later">
      <span role="status">{t("uploads.later", { taken: p.taken, more: p.items.length })}</span>
      <IconButton small label={t("uploads.leaveOut")} icon={<CloseIcon />} onClick={() => p.items.forEach((one) => p.remove(one.key))} />
    </li>
  );
}

type Judged = Upload & { note?: string };

/** The upload with its outcome; an expected refusal is shown as its problem. */
function judge(item: Upload, model: Model | undefined): Judged {
  const outcome = item.attachment && outcomeOf(item.attachment, model);
  if (!outcome) return item;
  return outcome.isRefused ? { ...item, problem: outcome.words } : { ...item, note: outcome.words };
}

function Item(p: { item: Judged; remove(): void; retry(): void }) {
  const { item } = p;
  return (
    <li className={`tray-item tray-${item.state === "ready" && item.problem ? "refused" : item.state}`}>
      <span className="tray-picture">
        <Sign item={item} />
      </span>
      <span className="tray-words">
        <span className="file-name" title={item.name}>
          {item.name}
        </span>
        {item.problem ? <span className="tray-problem">{item.problem}</span> : <span className="file-quiet">{stateOf(item)}</span>}
        {isOpen(item) && <progress {...(item.size === null ? {} : { max: Math.max(1, item.size), value: item.done })} aria-label={t("uploads.progress", { name: item.name })} />}
      </span>
      {item.state === "failed" && item.again && (
        <IconButton small label={t("uploads.retry", { name: item.name })} icon={<RetryIcon />} onClick={p.retry} />
      )}
      <IconButton
        small
        label={t(isOpen(item) ? "uploads.cancel" : "uploads.remove", { name: item.name })}
        icon={<CloseIcon />}
        onClick={p.remove}
      />
    </li>
  );
}

function Sign(p: { item: Upload }) {
  const { problem, preview, attachment } = p.item;
  if (problem) return <WarnIcon />;
  return preview ? <img src={preview} alt="" decoding="async" /> : <KindIcon kind={attachment?.kind ?? "other"} size={22} />;
}

function stateOf(item: Judged): string {
  if (isOpen(item) && item.size === null) return factsOf([item.done ? sizeOf(item.done) : "", t("uploads.fetching")]);
  if (item.state === "waiting") return t("uploads.waiting", { size: sizeOf(item.size) });
  if (item.state !== "sending") return factsOf([sizeOf(item.size), item.note]);
  if (item.done >= (item.size ?? 0)) return t("uploads.checking");
  return t("uploads.sent", { done: sizeOf(item.done), size: sizeOf(item.size) });
}
