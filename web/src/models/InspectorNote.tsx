import { rich } from "../language";

/** Explains the built-in inspector, which needs no API key. */
export function InspectorNote() {
  return (
    <p className="soft tester">
      {rich("welcome.inspector", { command: "ANTHROPIC_API_KEY=… make run", code: (words) => <code>{words}</code> })}
    </p>
  );
}
