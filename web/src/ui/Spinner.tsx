// Something goes on. The label is for screen readers; where text beside it says the same, leave it out.
export function Spinner({ label }: { label?: string }) {
  if (!label) return <span className="spinner" aria-hidden="true" />;
  return <span className="spinner" role="status" aria-label={label} />;
}
