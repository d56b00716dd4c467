// Something goes on. The label is for screen readers; where text beside it says the same, leave it out.
export function Spinner({ label }: { label?: string }) {
  return label ? <span className="spinner" role="status" aria-label={label} /> : <span className="spinner" aria-hidden="true" />;
}
