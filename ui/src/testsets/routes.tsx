import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "../root";
import { oneOf, text, whole } from "../search";
import { KINDS } from "./data";

const list = createRoute({
  getParentRoute: () => rootRoute,
  path: "/test-sets",
  validateSearch: (search: Record<string, unknown>) => text(search, "q"),
  component: lazyRouteComponent(() => import("./TestSetsPage"), "TestSetsPage"),
});

const one = createRoute({
  getParentRoute: () => rootRoute,
  path: "/test-sets/$name",
  validateSearch: (search: Record<string, unknown>) => ({
    ...oneOf(search, "view", ["versions", "differences"]),
    ...whole(search, "version"),
    ...whole(search, "from"),
    ...text(search, "q"),
    ...text(search, "column"),
    ...oneOf(search, "kind", KINDS),
    ...whole(search, "row"),
  }),
  component: lazyRouteComponent(() => import("./TestSetPage"), "TestSetPage"),
});

export const routes = [list, one] as const;
