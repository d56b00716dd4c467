// The line under a file: number, name, what it measures, who brought it, and where to save it.
import { broughtBy, isThere, measureOf, sizeOf, type Attachment } from "./attachment";
import { Badge } from "./Badge";
import { Download } from "./Download";
import { KindIcon } from "./KindIcon";

export function FileLine(p: { file: Attachment }) {
  const { file } = p;
  const facts = [sizeOf(file.size), measureOf(file), broughtBy(file.origin)].filter(Boolean).join(" · ");
  return (
    <div className="file-line">
      <Badge file={file} />
      <KindIcon kind={file.kind} />
      <span className="file-name" title={file.name}>
        {file.name}
      </span>
      <span className="file-quiet">{facts}</span>
      {isThere(file) && <Download file={file} small />}
    </div>
  );
}
