// What is set for this conversation alone: in words above the composer, and the panel in which it is changed.
import "./ownSettings.css";
import { factsOf, numberOf, t } from "../language";
import { findModel } from "../models/findModel";
import { useApp } from "../state/AppProvider";
import type { OwnSettings as Settings } from "../types";
import { Panel } from "./Panel";
import { useChoices } from "./settings";

type Props = {
  /** Null for a new conversation, whose settings go with its first message. */
  id: string | null;
  own: Settings | null;
  /** The model that answers. */
  model: string | null;
  open: boolean;
  onOpen: (open: boolean) => void;
  onSaved: (saved: Settings | null) => void;
};

export function OwnSettings({ id, own, model, open, onOpen, onSaved }: Props) {
  return (
    <>
      {own && <Note own={own} model={model} onOpen={() => onOpen(true)} />}
      {open && <Panel id={id} own={own} model={model} onSaved={onSaved} onClose={() => onOpen(false)} />}
    </>
  );
}

function Note({ own, model, onOpen }: { own: Settings; model: string | null; onOpen: () => void }) {
  const { models } = useApp();
  const choices = useChoices(own.tools ? model : null).value;
  const off = choices && own.tools ? choices.tools.filter((tool) => !own.tools?.includes(tool.name)).length : 0;
  const facts = factsOf([
    own.model && (findModel(models, own.model)?.name ?? own.model),
    own.instructions && t("ownSettings.noteInstructions"),
    own.temperature !== null && t("ownSettings.noteTemperature", { value: numberOf(own.temperature) }),
    own.on_full && t(`full.choice.${own.on_full}`),
    off > 0 && t("ownSettings.noteTools", { count: off }),
  ]);
  return (
    <p className="own-note">
      <button type="button" aria-haspopup="dialog" onClick={onOpen}>
        {t("ownSettings.note", { facts })}
      </button>
    </p>
  );
}
