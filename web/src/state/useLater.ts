// A value that follows another once that has not changed for a while, so that not each keystroke is a request.
import { useEffect, useState } from "preact/hooks";

/** Debounces a value. */
export function useLater(value: string, milliseconds: number): string {
  const [late, setLate] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setLate(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return late;
}
