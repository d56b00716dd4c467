// Link that downloads the original file.
import { t } from "../language";
import { DownloadIcon } from "../ui/icons";
import { downloadOf, type Attachment } from "./attachment";

export function Download(p: { file: Attachment; small?: boolean }) {
  return (
    <a
      className={p.small ? "icon-button icon-button-small" : "icon-button"}
      href={downloadOf(p.file)}
      download={p.file.name}
      aria-label={t("files.download", { name: p.file.name })}
      title={t("files.downloadShort")}
    >
      <DownloadIcon />
    </a>
  );
}
