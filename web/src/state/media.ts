// Media queries of screen and pointer.
import { useEffect, useState } from "preact/hooks";

/** A touch device, which usually has a camera and no keyboard. */
export const touches = matchMedia("(pointer: coarse)").matches;

/** Subscribes to a media query. */
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
