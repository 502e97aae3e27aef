/** Says that something is being loaded; shown only if it takes a moment. */
export function Loading({ what }: { what: string }) {
  return (
    <p className="loading quiet" role="status">
      Loading {what} …
    </p>
  );
}
