import { rich } from "../language";
import { at } from "../prefix";
import { follow } from "../router";

/** Explains the built-in inspector, which needs no key. */
export function InspectorNote() {
  return (
    <p className="soft tester">
      {rich("welcome.inspector", {
        link: (words) => (
          <a href={at("/settings")} onClick={follow}>
            {words}
          </a>
        ),
      })}
    </p>
  );
}
