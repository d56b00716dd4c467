// Opens a file at a place: a page of a PDF in the page view, a time in its player.
import { scrollToFile } from "./anchors";
import { type Attachment, isThere } from "./attachment";
import { view } from "./viewing";

/** Without a place, or for other files, scrolls to the file. */
export function openAt(file: Attachment, page: number | null, seconds: number | null): void {
  if (page !== null && file.media_type === "application/pdf" && isThere(file)) return view({ what: "pages", file, page });
  if (file.number === null) return;
  scrollToFile(file.number);
  const player = document.getElementById(`file-${file.number}`)?.querySelector<HTMLMediaElement>("audio, video");
  if (player && seconds !== null) player.currentTime = seconds;
}
