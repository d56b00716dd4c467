// Components that are fetched when they are first shown, so that the page's start doesn't wait for them.
import type { ComponentChildren, ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";

/** `load` is asked once. Until the component is here `meanwhile` stands in its place; where it can't come, words. */
export function lazily<Props extends object>(load: () => Promise<ComponentType<Props>>, meanwhile?: ComponentChildren) {
  let found: ComponentType<Props> | undefined;
  return function Lazily(props: Props) {
    const [, redraw] = useState(0);
    const [failed, fail] = useState(false);
    useEffect(() => {
      if (found) return;
      let left = false;
      const come = (component: ComponentType<Props>) => ((found = component), left || redraw((n) => n + 1));
      load().then(come, () => left || fail(true));
      return () => void (left = true);
    }, []);
    if (failed) return <p className="file-quiet">This part of the page could not be loaded. Reload the page.</p>;
    const Found = found;
    return Found ? <Found {...props} /> : <>{meanwhile ?? null}</>;
  };
}
