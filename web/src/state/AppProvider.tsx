// Global state: the current user, the models and the settings.
import { createContext, type ComponentChildren } from "preact";
import { useCallback, useContext, useEffect, useMemo, useState } from "preact/hooks";
import { api, ApiError, type Me } from "../api";
import { applyLanguage } from "./applyLanguage";
import { t } from "../language";
import { wantsNotifications } from "../notifications/choice";
import { applyTheme } from "../theme";
import type { Model, Settings, SettingsChange } from "../types";
import { showError } from "./showError";
import { useLoaded } from "./loading";
import { loadPart } from "./parts";

export type AppState = {
  me: Me | null;
  /** Why there is no user: signed out, or the server is unreachable. */
  problem: ApiError | null;
  /** Null until loaded. */
  models: Model[] | null;
  /** Model of new conversations: the user's choice, else what the server decides: the one used last, or one with a key. */
  model: string | null;
  /** Null until loaded. */
  settings: Settings | null;
  /** Why settings or models couldn't be loaded; loading is retried. */
  missing: ApiError | null;
  /** Changes only the given settings. */
  save: (change: SettingsChange) => Promise<void>;
  /** Reloads what is missing. */
  again: () => void;
  /** Reloads the models and the default one, after a key was stored or deleted, or another model was used. */
  reloadModels: () => void;
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
    if (stored.value.titles || wantsNotifications())
      void loadPart(() => import("../notifications/follow")).then((found) => found.start(), () => {});
  }, [stored.value]);
  useEffect(() => {
    const leave = () => setSignedOut(new ApiError("Unauthorised", t("errors.signInToContinue"), 401));
    window.addEventListener("signed-out", leave);
    return () => window.removeEventListener("signed-out", leave);
  }, []);

  const save = useCallback(
    async (change: SettingsChange) => {
      stored.stop();
      if (settings) stored.set({ ...settings, ...change });
      try {
        stored.set(await api.patch<Settings>("/api/settings", change));
        if ("model" in change) models.again(); // the server's default may have changed
      } catch (error) {
        if (settings) stored.set(settings);
        else stored.again();
        showError(error, "errors.notSaved");
        throw error;
      }
    },
    [settings, stored.stop, stored.set, stored.again, models.again],
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
      reloadModels: models.again,
    }),
    [me.value, me.error, signedOut, models.value, models.error, models.again, settings, stored.error, save, again],
  );
  return <Context.Provider value={app}>{children}</Context.Provider>;
}
