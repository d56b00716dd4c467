/** What the model is that is there without a key. */
export function Tester() {
  return (
    <p className="soft tester">
      The inspector is a built-in tester, not an AI. For a real model set its key and start again:{" "}
      <code>ANTHROPIC_API_KEY=… make run</code>
    </p>
  );
}
