import { ApiError, errorText } from "../api/client";

/** The same question gets the same answer: what was asked for makes no sense. */
const REFUSED = 422;

/** What went wrong and what to do, in words; with `onRetry`, a button to try again where that may help. */
export function ErrorNote({ error, onRetry }: { error: unknown; onRetry?: (() => void) | undefined }) {
  return (
    <div className="error-note" role="alert">
      <p>{errorText(error)}</p>
      {onRetry && !(error instanceof ApiError && error.status === REFUSED) && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}
