// A file's kind as a small drawing.
import { AudioIcon, DocumentIcon, FileIcon, ImageIcon, TextIcon, VideoIcon } from "../ui/icons";
import type { Kind } from "./kind";

const DRAWINGS = { image: ImageIcon, document: DocumentIcon, audio: AudioIcon, video: VideoIcon, text: TextIcon, other: FileIcon };

/** Decoration only: words beside it say the same. A kind that isn't known yet is a file. */
export function KindIcon(p: { kind: Kind; size?: number }) {
  const Drawing = DRAWINGS[p.kind] ?? FileIcon;
  return <Drawing size={p.size ?? 18} />;
}
