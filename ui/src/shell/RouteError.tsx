import type { ErrorComponentProps } from "@tanstack/react-router";
import { errorText } from "../api/client";
import { ErrorNote } from "../components/ErrorNote";
import { Page } from "../components/Page";

/** What a page shows that could not be drawn. The bar stays, so that one can go elsewhere. */
export function RouteError({ error, reset }: ErrorComponentProps) {
  const old = /dynamically imported module|Importing a module script/.test(errorText(error));
  return (
    <Page title="This page cannot be shown" narrow>
      {old ? (
        <ErrorNote error="The pages were built anew since this one was opened. Load it again." />
      ) : (
        <ErrorNote error={error} onRetry={reset} />
      )}
      <button type="button" onClick={() => window.location.reload()}>
        Load the page again
      </button>
    </Page>
  );
}
