// Whatever is looked at in full, over the page. Stands once at the page's root.
import { lazily } from "./lazily";
import { useViewed } from "./viewing";

const Pictures = lazily(() => import("./Pictures").then((found) => found.Pictures));
const Pages = lazily(() => import("./Pages").then((found) => found.Pages));

export function Lightbox() {
  const viewed = useViewed();
  if (!viewed) return null;
  return viewed.what === "pictures" ? <Pictures pictures={viewed.pictures} at={viewed.at} /> : <Pages file={viewed.file} />;
}
