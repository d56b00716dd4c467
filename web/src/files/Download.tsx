// Link that downloads the original file.
import { DownloadIcon } from "../ui/icons";
import { downloadOf, type Attachment } from "./attachment";

export function Download(p: { file: Attachment; small?: boolean }) {
  return (
    <a
      className={p.small ? "icon-button icon-button-small" : "icon-button"}
      href={downloadOf(p.file)}
      download={p.file.name}
      aria-label={`Download ${p.file.name}`}
      title="Download"
    >
      <DownloadIcon />
    </a>
  );
}
