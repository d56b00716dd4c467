// Components loaded when they are first shown, so that the start page stays small.
import type { ComponentChildren, ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { t } from "../language";
import { loadPart } from "../state/parts";
import { Button, toast } from "../ui";

type Options = { meanwhile?: () => ComponentChildren; onLost?: () => void; after?: () => Promise<void> };

/** `meanwhile` is shown until the component is loaded. Offline, loading resumes once the connection is back. If loading
 * fails for good, an error is shown in its place, or as a toast if `onLost` is set. `after` is awaited before. */
export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>, options: Options = {}) {
  let loaded: ComponentType<Props> | undefined;
  const begin = async (onMiss?: () => void) => {
    await options.after?.();
    loaded ??= await loadPart(load, onMiss);
  };
  /** Loads it before it is shown. A failure counts when it is shown. */
  LazyComponent.preload = () => begin().catch(() => {});
  return LazyComponent;
  function LazyComponent(props: Props) {
    const [state, setState] = useState<"loading" | "waiting" | "lost" | "found">("loading");
    useEffect(() => {
      let left = false;
      const onLoaded = () => void (left || setState("found"));
      if (loaded) return onLoaded(); // since it was rendered, by another place
      const onFailed = () => {
        if (left) return;
        setState("lost");
        if (options.onLost) toast(t("page.partLost"), "bad");
        options.onLost?.();
      };
      void begin(() => left || setState("waiting")).then(onLoaded, onFailed);
      return () => void (left = true);
    }, []);
    const Loaded = loaded;
    if (Loaded) return <Loaded {...props} />;
    if (state === "lost") return <Lost />;
    return state === "waiting" && !options.onLost ? <Waiting /> : <>{options.meanwhile?.() ?? null}</>;
  }
}

function Waiting() {
  return (
    <div className="notice notice-warn" role="status">
      <span>{t("page.partWaiting")}</span>
    </div>
  );
}

function Lost() {
  return (
    <div className="notice notice-warn" role="alert">
      <span>{t("page.partLost")}</span>
      <Button onClick={() => location.reload()}>{t("page.reload")}</Button>
    </div>
  );
}
