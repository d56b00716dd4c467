// Full-screen viewer, mounted once at the root.
import { lazy } from "./lazy";
import { useViewed, view } from "./viewing";

const onLost = () => view(null);

const Pictures = lazy(() => import("./Pictures").then((found) => found.Pictures), { onLost });
const Pages = lazy(() => import("./Pages").then((found) => found.Pages), { onLost });

export function Lightbox() {
  const viewed = useViewed();
  if (!viewed) return null;
  return viewed.what === "pictures" ? <Pictures pictures={viewed.pictures} at={viewed.at} /> : <Pages file={viewed.file} from={viewed.page} />;
}
