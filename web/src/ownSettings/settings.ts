// Settings of one conversation, what they may be, and how they are loaded and stored.
import { api } from "../api";
import { useLoaded } from "../state/loading";
import { notify } from "../state/list";
import type { OwnSettings } from "../types";

/** Settings as they are stored. `revision` counts the changes. */
export type Stored = OwnSettings & { revision: number };

export type Tool = { name: string; description: string; approval: boolean; hosted: boolean };
export type Choices = { model: string; tools: Tool[]; max_temperature: number };

export const NOTHING: OwnSettings = { model: null, instructions: "", temperature: null, tools: null };

/** The settings alone, in one order. */
const plain = ({ model, instructions, temperature, tools, on_full }: OwnSettings): OwnSettings => ({
  model,
  instructions,
  temperature,
  tools,
  ...(on_full ? { on_full } : {}),
});

export const areSame = (one: OwnSettings, other: OwnSettings) => JSON.stringify(plain(one)) === JSON.stringify(plain(other));

/** What can be set with a model. */
export const useChoices = (model: string | null) =>
  useLoaded(model && `choices ${model}`, (signal) =>
    api.get<Choices>(`/api/settings/choices?model=${encodeURIComponent(model ?? "")}`, { signal }),
  );

const pathOf = (id: string) => `/api/conversations/${encodeURIComponent(id)}/settings`;

export const load = (id: string, signal?: AbortSignal) => api.get<Stored>(pathOf(id), signal ? { signal } : {});

/** Stores the settings, and tells other tabs. Fails with 409 if they have changed since `revision`. */
export async function store(id: string, settings: OwnSettings, revision: number): Promise<Stored> {
  const stored = await api.put<Stored>(pathOf(id), { ...plain(settings), revision });
  notify({ what: "run", id });
  return stored;
}

/** Settings without tools that the server doesn't offer any more; with all of them, there is nothing to choose. */
export function offered(settings: OwnSettings, choices: Choices): OwnSettings {
  const names = choices.tools.map((tool) => tool.name).filter((name) => settings.tools?.includes(name));
  return { ...plain(settings), tools: settings.tools && names.length < choices.tools.length ? names : null };
}
