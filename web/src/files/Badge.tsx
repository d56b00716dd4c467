// A file's label such as "image 5"; a click inserts a reference to it into the message.
import { t } from "../language";
import { labelOf, referenceText, type Attachment } from "./attachment";
import { useFiles } from "./context";

export function Badge(p: { file: Attachment }) {
  const { insertReference } = useFiles();
  if (p.file.number === null) return null;
  const label = labelOf(p.file);
  if (!insertReference) return <span className="file-badge">{label}</span>;
  const reference = referenceText(p.file.kind, p.file.number);
  return (
    <button
      type="button"
      className="file-badge"
      title={t("files.insertTitle", { reference })}
      aria-label={t("files.insert", { label })}
      onClick={() => insertReference(reference)}
    >
      {label}
    </button>
  );
}
