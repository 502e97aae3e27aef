import { Link } from "@tanstack/react-router";
import { EmptyState } from "../components/EmptyState";
import { Page } from "../components/Page";

export function NotFound() {
  return (
    <Page title="Not found" narrow>
      <EmptyState title="There is no page at this address.">
        Perhaps the link is cut off, or what it named was removed. <Link to="/">Go to the start page</Link>.
      </EmptyState>
    </Page>
  );
}
