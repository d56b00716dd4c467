// Icon of a file's kind.
import { AudioIcon, DocumentIcon, FileIcon, ImageIcon, TextIcon, VideoIcon } from "../ui/icons";
import type { Kind } from "./kind";

const DRAWINGS = { image: ImageIcon, document: DocumentIcon, audio: AudioIcon, video: VideoIcon, text: TextIcon, other: FileIcon };

/** Decorative: the text beside it has the same information. Unknown kinds get the generic icon. */
export function KindIcon(p: { kind: Kind; size?: number }) {
  const Drawing = DRAWINGS[p.kind] ?? FileIcon;
  return <Drawing size={p.size ?? 18} />;
}
