// Model picker: a button that opens the list of models.
import { useMemo, useState } from "preact/hooks";
import { lazy } from "../files/lazy";
import { t } from "../language";
import { useApp } from "../state/AppProvider";
import { Missing } from "../state/Missing";
import type { Model } from "../types";
import { Dialog, DownIcon, Spinner } from "../ui";
import { findModel } from "./findModel";

const waiting = { meanwhile: () => <Spinner label={t("page.loading")} /> };
const ModelList = lazy(() => import("./ModelList").then((found) => found.ModelList), waiting);

type Props = { chosen: string | null; onChoose: (id: string) => void; label?: string };

export function ModelPicker({ chosen, onChoose, label = t("models.label") }: Props) {
  const { models } = useApp();
  const [open, setOpen] = useState(false);
  const model = useMemo(() => findModel(models, chosen), [models, chosen]);
  const [name, note] = model ? namesOf(model) : [chosen ?? t("models.label"), null];
  return (
    <>
      <button type="button" className="model" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <span className="unseen">{label}:</span>
        <span className="model-name">{name}</span>
        {note && <span className="model-provider">{note}</span>}
        <DownIcon size={16} />
      </button>
      <Dialog open={open} onClose={() => setOpen(false)} title={t("models.question")} className="models">
        {models ? (
          <ModelList
            models={models}
            chosen={model?.id ?? chosen}
            onChoose={(picked: Model) => {
              onChoose(picked.id);
              setOpen(false);
            }}
          />
        ) : (
          <Missing />
        )}
      </Dialog>
    </>
  );
}

/** A model's name and its secondary text: the part of the name in brackets, else the provider. */
function namesOf({ name, provider }: Model): [string, string] {
  const at = name.endsWith(")") ? name.lastIndexOf(" (") : -1;
  return at > 0 ? [name.slice(0, at), name.slice(at + 2, -1)] : [name, provider];
}
