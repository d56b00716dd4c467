// Global state: the current user, the models and the settings.
import { createContext, type ComponentChildren } from "preact";
import { useCallback, useContext, useEffect, useMemo, useState } from "preact/hooks";
import { api, ApiError, type Me } from "../api";
import { applyLanguage } from "./applyLanguage";
import { t } from "../language";
import { applyTheme } from "../theme";
import type { Model, Settings } from "../types";
import { showError } from "./showError";
import { useLoaded } from "./loading";

export type AppState = {
  me: Me | null;
  /** Why there is no user: signed out, or the server is unreachable. */
  problem: ApiError | null;
  /** Null until loaded. */
  models: Model[] | null;
  /** Default model of new conversations: the user's choice, else the server's. */
  model: string | null;
  /** Null until loaded. */
  settings: Settings | null;
  /** Why settings or models couldn't be loaded; loading is retried. */
  missing: ApiError | null;
  /** Changes only the given settings. */
  save: (change: Partial<Settings>) => Promise<void>;
  /** Reloads what is missing. */
  again: () => void;
};

const Context = createContext<AppState | null>(null);

export function useApp(): AppState {
  const app = useContext(Context);
  if (!app) throw new Error("useApp is used outside of <AppProvider>");
  return app;
}

type Models = { default: string; models: Model[] };

export function AppProvider({ children }: { children: ComponentChildren }) {
  const me = useLoaded("me", (signal) => api.get<Me>("/api/me", { signal }));
  const known = me.value ? me.value.user : null;
  const models = useLoaded(known, (signal) => api.get<Models>("/api/models", { signal }));
  const stored = useLoaded(known, (signal) => api.get<Settings>("/api/settings", { signal }));
  const [signedOut, setSignedOut] = useState<ApiError | null>(null);
  const settings = stored.value;
  useEffect(() => {
    if (!stored.value) return;
    applyTheme(stored.value.theme);
    void applyLanguage(stored.value.language);
  }, [stored.value]);
  useEffect(() => {
    const leave = () => setSignedOut(new ApiError("Unauthorised", t("errors.signInToContinue"), 401));
    window.addEventListener("signed-out", leave);
    return () => window.removeEventListener("signed-out", leave);
  }, []);

  const save = useCallback(
    async (change: Partial<Settings>) => {
      if (settings) stored.set({ ...settings, ...change });
      try {
        stored.set(await api.patch<Settings>("/api/settings", change));
        if ("model" in change) models.again(); // the server's default may have changed
      } catch (error) {
        if (settings) stored.set(settings);
        showError(error, "errors.notSaved");
        throw error;
      }
    },
    [settings, stored.set, models.again],
  );
  const again = useCallback(() => {
    for (const one of [me, models, stored]) if (one.error) one.again();
  }, [me.error, models.error, stored.error]);
  const app = useMemo<AppState>(
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
  return <Context.Provider value={app}>{children}</Context.Provider>;
}
