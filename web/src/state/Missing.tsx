// What stands in the place of settings or models as long as they aren't known: why, and a way to ask at once.
import { Button, Spinner, WarnIcon } from "../ui";
import { useHouse } from "./House";

export function Missing() {
  const { missing, again } = useHouse();
  if (!missing) return <Spinner label="Loading" />;
  return (
    <p className="notice notice-warn" role="status">
      <WarnIcon />
      <span>{missing.text}</span>
      <Button onClick={again}>Try again</Button>
    </p>
  );
}
