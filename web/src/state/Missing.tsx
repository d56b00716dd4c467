// Placeholder for settings or models that aren't loaded: a spinner, or the error with a retry button.
import { Button, Spinner, WarnIcon } from "../ui";
import { useApp } from "./AppProvider";

export function Missing() {
  const { missing, again } = useApp();
  if (!missing) return <Spinner label="Loading" />;
  return (
    <p className="notice notice-warn" role="status">
      <WarnIcon />
      <span>{missing.text}</span>
      <Button onClick={again}>Try again</Button>
    </p>
  );
}
