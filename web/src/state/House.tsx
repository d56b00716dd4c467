// What every part of the page may ask for: who is here, which models there are, and the person's settings.
import { createContext, type ComponentChildren } from "preact";
import { useCallback, useContext, useEffect, useMemo, useState } from "preact/hooks";
import { api, ApiError, type Me } from "../api";
import { applyTheme, keptTheme } from "../theme";
import type { Model, Settings } from "../types";
import { complain } from "./complain";
import { useLoaded } from "./loading";

export type House = {
  me: Me | null;
  /** Why nobody is known: signed out, or the server is away. */
  problem: ApiError | null;
  models: Model[];
  /** The model of new conversations: the person's choice, else the server's. */
  model: string | null;
  settings: Settings;
  save: (change: Partial<Settings>) => Promise<void>;
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

  const settings = useMemo(() => stored.value ?? { model: null, instructions: "", theme: keptTheme() }, [stored.value]);
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
      const wanted = { ...settings, ...change };
      stored.set(wanted);
      await api.put<Settings>("/api/settings", wanted).catch((error: unknown) => {
        stored.set(settings);
        complain(error, "Not saved: ");
        throw error;
      });
    },
    [settings, stored.set],
  );
  const house = useMemo<House>(
    () => ({
      me: me.value,
      problem: signedOut ?? me.error,
      models: models.value?.models ?? [],
      model: settings.model ?? models.value?.default ?? null,
      settings,
      save,
      again: me.again,
    }),
    [me.value, me.error, signedOut, models.value, settings, save, me.again],
  );
  return <Context.Provider value={house}>{children}</Context.Provider>;
}
