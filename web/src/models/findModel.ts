import type { Model } from "../types";

/** The model that is meant; a provider's name alone means the first of its models. */
export function findModel(models: readonly Model[] | null, chosen: string | null): Model | undefined {
  return models?.find((each) => each.id === chosen) ?? models?.find((each) => each.id.startsWith(`${chosen}:`));
}
