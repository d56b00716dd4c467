import { keepLanguage, preferredLanguage, speak, spokenLanguage, t } from "../language";
import { toast } from "../ui";
import { loadWithRetry } from "./parts";

/** Gives the page the language that the user chose, here or in another browser; null for the browser's. */
export async function applyLanguage(language: string | null): Promise<void> {
  keepLanguage(language);
  if (preferredLanguage() === spokenLanguage()) return;
  await loadWithRetry(() => speak(preferredLanguage())).catch(() => toast(t("page.partLost"), "bad"));
}
