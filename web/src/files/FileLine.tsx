// The line below a file: number, name, size, origin, and buttons to download or delete it.
import { sizeOf, t } from "../language";
import { IconButton, TrashIcon } from "../ui";
import { originOf, isDeletable, isThere, measureOf, type Attachment } from "./attachment";
import { Badge } from "./Badge";
import { useFiles } from "./context";
import { Download } from "./Download";
import { KindIcon } from "./KindIcon";

export function FileLine(p: { file: Attachment }) {
  const { file } = p;
  const { remove } = useFiles();
  const facts = [sizeOf(file.size), measureOf(file), originOf(file.origin)].filter(Boolean).join(" · ");
  return (
    <div className="file-line">
      <Badge file={file} />
      <KindIcon kind={file.kind} />
      <span className="file-name" title={file.name}>
        {file.name}
      </span>
      <span className="file-quiet">{facts}</span>
      {isThere(file) && <Download file={file} small />}
      {remove && isDeletable(file) && (
        <IconButton small label={t("files.delete", { name: file.name })} icon={<TrashIcon />} onClick={() => remove(file)} />
      )}
    </div>
  );
}
