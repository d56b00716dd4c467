import type { ComponentChildren } from "preact";
import { rich, t } from "../language";
import { at } from "../prefix";
import { follow } from "../router";
import { useApp } from "../state/AppProvider";
import { isInspector } from "./findModel";

/** Explains the built-in inspector, which needs no key, and what leads to a real model from here. */
export function InspectorNote() {
  const { models, me } = useApp();
  if (!models || !me) return null; // what it advises depends on both
  const link = (words: ComponentChildren) => (
    <a href={at("/settings")} onClick={follow}>
      {words}
    </a>
  );
  const hasOther = models.some((model) => model.available && !isInspector(model.id));
  return (
    <p className="soft tester">
      {t("welcome.inspector")}{" "}
      {hasOther ? t("welcome.chooseModel") : me.keys ? rich("welcome.enterKey", { link }) : t("welcome.askForKey")}
    </p>
  );
}
