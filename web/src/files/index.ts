// Views, lightbox and uploads of a conversation's files.
import "./files.css";
export type { Attachment } from "./attachment";
export type { Kind } from "./kind";
export { isThere, labelOf, titleOf, numberedOf, referenceText } from "./attachment";
export { scrollToFile } from "./anchors";
export { openAt } from "./openAt";
export { FilesProvider, useFiles } from "./context";
export { FileGrid } from "./FileGrid";
export { FileView } from "./FileView";
export { Lightbox } from "./Lightbox";
export { UploadTray } from "./uploads/UploadTray";
export { useUploads, type Uploads } from "./uploads/useUploads";
export type { Upload } from "./uploads/values";
