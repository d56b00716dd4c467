// Components that are fetched when they are first shown, so that the page's start doesn't wait for them.
import type { ComponentChildren, ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Button, toast } from "../ui";

const LOST = "This part of the page could not be loaded. Check the connection, then reload the page.";

type Options = { meanwhile?: ComponentChildren; onLost?: () => void };

/** `meanwhile` stands in its place until it is here. Where it can't come that is said there, or where `onLost` takes
 * the place away in a toast. Browsers remember that a module didn't come: only a page that is loaded anew asks again. */
export function lazily<Props extends object>(load: () => Promise<ComponentType<Props>>, options: Options = {}) {
  let found: ComponentType<Props> | undefined;
  return function Lazily(props: Props) {
    const [, redraw] = useState(0);
    const [lost, lose] = useState(false);
    useEffect(() => {
      if (found) return;
      let left = false;
      const come = (component: ComponentType<Props>) => {
        found = component;
        if (!left) redraw((count) => count + 1);
      };
      const miss = () => {
        if (left) return;
        lose(true);
        if (options.onLost) toast(LOST, "bad");
        options.onLost?.();
      };
      load().then(come, miss);
      return () => void (left = true);
    }, []);
    const Found = found;
    if (Found) return <Found {...props} />;
    return lost ? <Lost /> : <>{options.meanwhile ?? null}</>;
  };
}

function Lost() {
  return (
    <div className="notice notice-warn" role="alert">
      <span>{LOST}</span>
      <Button onClick={() => location.reload()}>Reload the page</Button>
    </div>
  );
}
