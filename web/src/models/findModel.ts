import type { Model } from "../types";

/** Whether a model is the built-in tester, which needs no key. */
export const isInspector = (model: string | null): model is string => /^inspector(:|$)/.test(model ?? "");

/** Finds a model by id; a provider's name alone means its first model. */
export function findModel(models: readonly Model[] | null, chosen: string | null): Model | undefined {
  return models?.find((each) => each.id === chosen) ?? models?.find((each) => each.id.startsWith(`${chosen}:`));
}
