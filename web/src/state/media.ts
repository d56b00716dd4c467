// What the screen and the pointing device are like.
import { useEffect, useState } from "preact/hooks";

/** Whether fingers are what points here: such a device mostly has a camera at hand, and no keyboard. */
export const touches = matchMedia("(pointer: coarse)").matches;

/** Whether a media query holds, now and whenever that changes. */
export function useMatch(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const read = () => setMatches(media.matches);
    read();
    media.addEventListener("change", read);
    return () => media.removeEventListener("change", read);
  }, [query]);
  return matches;
}
