import { createRoute, createRouter } from "@tanstack/react-router";
import { routes as evaluations } from "./evaluations/routes";
import { routes as notes } from "./notes/routes";
import { rootRoute } from "./root";
import { routes as runs } from "./runs/routes";
import { NotFound } from "./shell/NotFound";
import { RouteError } from "./shell/RouteError";
import { StartPage } from "./shell/StartPage";
import { routes as talk } from "./talk/routes";
import { routes as testsets } from "./testsets/routes";

const start = createRoute({ getParentRoute: () => rootRoute, path: "/", component: StartPage });

const tree = rootRoute.addChildren([start, ...talk, ...testsets, ...evaluations, ...runs, ...notes]);

export const router = createRouter({
  routeTree: tree,
  defaultErrorComponent: RouteError,
  defaultNotFoundComponent: NotFound,
  defaultPreload: "intent",
  // What a page does not understand in its address is left out of it.
  search: { strict: true },
  scrollRestoration: true,
  scrollToTopSelectors: ["#main"],
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
