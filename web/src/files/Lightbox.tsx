// Full-screen viewer, mounted once at the root.
import { lazily } from "./lazily";
import { useViewed, view } from "./viewing";

const onLost = () => view(null);

const Pictures = lazily(() => import("./Pictures").then((found) => found.Pictures), { onLost });
const Pages = lazily(() => import("./Pages").then((found) => found.Pages), { onLost });

export function Lightbox() {
  const viewed = useViewed();
  if (!viewed) return null;
  return viewed.what === "pictures" ? <Pictures pictures={viewed.pictures} at={viewed.at} /> : <Pages file={viewed.file} />;
}
