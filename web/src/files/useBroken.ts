// Whether a picture or a player failed to load. It is tried again when the browser is back online.
import { useEffect, useState } from "preact/hooks";

export function useBroken(): [broken: boolean, onBroken: () => void] {
  const [broken, set] = useState(false);
  useEffect(() => {
    if (!broken) return;
    const again = () => set(false);
    window.addEventListener("online", again);
    return () => window.removeEventListener("online", again);
  }, [broken]);
  return [broken, () => set(true)];
}
