// A file without a preview: the reason, or else its type.
import "./reading.css";
import type { ComponentChildren } from "preact";
import { t } from "../language";
import { WarnIcon } from "../ui/icons";
import { typeOf, type Attachment } from "./attachment";
import { KindIcon } from "./KindIcon";

/** `says` replaces the type. */
export function Card(p: { file: Attachment; says?: string; children?: ComponentChildren }) {
  const trouble = troubleOf(p.file);
  return (
    <div className={trouble ? "file-card file-trouble" : "file-card"}>
      {trouble ? <WarnIcon /> : <KindIcon kind={p.file.kind} size={22} />}
      <span className="file-words">{trouble ?? p.says ?? typeOf(p.file.media_type)}</span>
      {p.children}
    </div>
  );
}

/** Why a file isn't available, as a sentence, or null. */
function troubleOf(file: Attachment): string | null {
  if (file.state === "deleted") return t("files.deleted");
  if (file.state === "quarantined") return t("files.heldBack", { why: file.problem ?? t("files.notSafe") });
  return file.problem ? t("files.unusable", { why: file.problem }) : null;
}
