/** Explains the built-in inspector, which needs no API key. */
export function InspectorNote() {
  return (
    <p className="soft tester">
      The inspector is a built-in tester, not an AI. For a real model set its key and start again:{" "}
      <code>ANTHROPIC_API_KEY=… make run</code>
    </p>
  );
}
