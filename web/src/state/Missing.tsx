// Placeholder for settings or models that aren't loaded: a spinner, or the error with a retry button.
import { t } from "../language";
import { Button, Spinner, WarnIcon } from "../ui";
import { useApp } from "./AppProvider";

export function Missing() {
  const { missing, again } = useApp();
  if (!missing) return <Spinner label={t("page.loading")} />;
  return (
    <p className="notice notice-warn" role="status">
      <WarnIcon />
      <span>{missing.text}</span>
      <Button onClick={again}>{t("page.tryAgain")}</Button>
    </p>
  );
}
