// Chooses the model that answers next: searched, by provider, with what it sees; those that can't be asked say why.
import { lazy, Suspense } from "preact/compat";
import { useMemo, useState } from "preact/hooks";
import { useHouse } from "../state/House";
import type { Model } from "../types";
import { Dialog, DownIcon, Spinner } from "../ui";

const ModelList = lazy(() => import("./ModelList").then((module) => ({ default: module.ModelList })));

type Props = { chosen: string | null; onChoose: (id: string) => void; label?: string };

export function ModelPicker({ chosen, onChoose, label = "Model" }: Props) {
  const { models } = useHouse();
  const [open, setOpen] = useState(false);
  const model = useMemo(() => found(models, chosen), [models, chosen]);
  const [name, note] = model ? namesOf(model) : [chosen ?? "Model", null];
  return (
    <>
      <button type="button" className="model" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <span className="unseen">{label}:</span>
        <span className="model-name">{name}</span>
        {note && <span className="model-provider">{note}</span>}
        <DownIcon size={16} />
      </button>
      <Dialog open={open} onClose={() => setOpen(false)} title="Which model answers?" className="models">
        <Suspense fallback={<Spinner label="Loading" />}>
          <ModelList
            models={models}
            chosen={model?.id ?? chosen}
            onChoose={(picked: Model) => {
              onChoose(picked.id);
              setOpen(false);
            }}
          />
        </Suspense>
      </Dialog>
    </>
  );
}

/** A model's name and what stands small beside it: what its name says in brackets, else its provider. */
function namesOf({ name, provider }: Model): [string, string] {
  const [, own, note] = /^(.*\S) \((.+)\)$/.exec(name) ?? [];
  return own && note ? [own, note] : [name, provider];
}

/** A provider's name alone means the first of its models. */
function found(models: Model[], chosen: string | null): Model | undefined {
  return models.find((each) => each.id === chosen) ?? models.find((each) => each.id.startsWith(`${chosen}:`));
}
