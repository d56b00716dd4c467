// A file's label such as "image 5"; a click inserts it into the message.
import { labelOf, type Attachment } from "./attachment";
import { useFiles } from "./context";

export function Badge(p: { file: Attachment }) {
  const { insertReference } = useFiles();
  if (p.file.number === null) return null;
  const label = labelOf(p.file);
  if (!insertReference) return <span className="file-badge">{label}</span>;
  return (
    <button
      type="button"
      className="file-badge"
      title={`Write “${label}” in your message`}
      aria-label={`${label}: write it in your message`}
      onClick={() => insertReference(label)}
    >
      {label}
    </button>
  );
}
