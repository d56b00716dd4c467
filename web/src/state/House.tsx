// What every part of the page may ask for: who is here, which models there are, and the person's settings.
import { createContext, type ComponentChildren } from "preact";
import { useCallback, useContext, useEffect, useMemo, useState } from "preact/hooks";
import { api, ApiError, type Me } from "../api";
import { applyTheme } from "../theme";
import type { Model, Settings } from "../types";
import { complain } from "./complain";
import { useLoaded } from "./loading";

export type House = {
  me: Me | null;
  /** Why nobody is known: signed out, or the server is away. */
  problem: ApiError | null;
  /** Null until they are known. */
  models: Model[] | null;
  /** The model of new conversations: the person's choice, else the server's. */
  model: string | null;
  /** Null until they were read. */
  settings: Settings | null;
  /** Why settings or models aren't known; they are asked for again. */
  missing: ApiError | null;
  /** Sets what is named, and nothing else. */
  save: (change: Partial<Settings>) => Promise<void>;
  /** Asks once more for whatever is missing. */
  again: () => void;
};

const Context = createContext<House | null>(null);

export function useHouse(): House {
  const house = useContext(Context);
  if (!house) throw new Error("useHouse is used outside of <HouseProvider>");
  return house;
}

type Models = { default: string; models: Model[] };

export function HouseProvider({ children }: { children: ComponentChildren }) {
  const me = useLoaded("me", (signal) => api.get<Me>("/api/me", { signal }));
  const known = me.value ? me.value.user : null;
  const models = useLoaded(known, (signal) => api.get<Models>("/api/models", { signal }));
  const stored = useLoaded(known, (signal) => api.get<Settings>("/api/settings", { signal }));
  const [signedOut, setSignedOut] = useState<ApiError | null>(null);
  const settings = stored.value;
  useEffect(() => {
    if (stored.value) applyTheme(stored.value.theme);
  }, [stored.value]);
  useEffect(() => {
    const leave = () => setSignedOut(new ApiError("Unauthorised", "Sign in to go on.", 401));
    window.addEventListener("signed-out", leave);
    return () => window.removeEventListener("signed-out", leave);
  }, []);

  const save = useCallback(
    async (change: Partial<Settings>) => {
      if (settings) stored.set({ ...settings, ...change });
      try {
        stored.set(await api.patch<Settings>("/api/settings", change));
        if ("model" in change) models.again(); // who answers where nobody is chosen
      } catch (error) {
        if (settings) stored.set(settings);
        complain(error, "Not saved: ");
        throw error;
      }
    },
    [settings, stored.set, models.again],
  );
  const again = useCallback(() => {
    for (const one of [me, models, stored]) if (one.error) one.again();
  }, [me.error, models.error, stored.error]);
  const house = useMemo<House>(
    () => ({
      me: me.value,
      problem: signedOut ?? me.error,
      models: models.value?.models ?? null,
      model: settings?.model ?? models.value?.default ?? null,
      settings,
      missing: stored.error ?? models.error,
      save,
      again,
    }),
    [me.value, me.error, signedOut, models.value, models.error, settings, stored.error, save, again],
  );
  return <Context.Provider value={house}>{children}</Context.Provider>;
}
