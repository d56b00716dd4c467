// Light or dark: the system's setting unless the user chose one. Also stored locally, so that the first paint is right.
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
