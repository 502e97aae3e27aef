import { createRootRoute } from "@tanstack/react-router";
import { NotFound } from "./shell/NotFound";
import { RouteError } from "./shell/RouteError";
import { Shell } from "./shell/Shell";

/** The route that all others stand in. */
export const rootRoute = createRootRoute({
  component: Shell,
  errorComponent: RouteError,
  notFoundComponent: NotFound,
});
