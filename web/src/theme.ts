// Light or dark: the system's setting unless the user chose one. Also stored locally, so that the first paint is right.
import { useEffect, useState } from "preact/hooks";
import { useMatch } from "./state/media";
import type { Theme } from "./types";

const key = "showandtell.theme";

export function keptTheme(): Theme {
  const stored = localStorage.getItem(key);
  return stored === "light" || stored === "dark" ? stored : "system";
}

export function applyTheme(theme: Theme): void {
  if (theme === "system") {
    localStorage.removeItem(key);
    delete document.documentElement.dataset["theme"];
  } else {
    localStorage.setItem(key, theme);
    document.documentElement.dataset["theme"] = theme;
  }
}

/** Whether the page is dark, by the choice or else the system. */
export function useTheme(): "dark" | "light" {
  const bySystem = useMatch("(prefers-color-scheme: dark)");
  const [chosen, choose] = useState(keptTheme);
  useEffect(() => {
    const watch = new MutationObserver(() => choose(keptTheme()));
    watch.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => watch.disconnect();
  }, []);
  if (chosen !== "system") return chosen;
  return bySystem ? "dark" : "light";
}
