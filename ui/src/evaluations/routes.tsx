import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "../root";
import { oneOf, text, whole } from "../search";

export const TABS = ["results", "figures", "setup"] as const;
export type Tab = (typeof TABS)[number];
export const CHANGES = ["broke", "healed", "same"] as const;
export type Change = (typeof CHANGES)[number];

type Search = Record<string, unknown>;

const list = createRoute({
  getParentRoute: () => rootRoute,
  path: "/evaluations",
  validateSearch: (search: Search) => ({ ...text(search, "q"), ...text(search, "test_set") }),
  component: lazyRouteComponent(() => import("./EvaluationsPage"), "EvaluationsPage"),
});

const create = createRoute({
  getParentRoute: () => rootRoute,
  path: "/evaluations/new",
  validateSearch: (search: Search) => ({
    ...text(search, "workflow"),
    ...text(search, "test_set"),
    ...text(search, "like"),
  }),
  component: lazyRouteComponent(() => import("./NewEvaluationPage"), "NewEvaluationPage"),
});

const compare = createRoute({
  getParentRoute: () => rootRoute,
  path: "/evaluations/compare",
  validateSearch: (search: Search) => ({
    ...text(search, "a"),
    ...text(search, "b"),
    ...oneOf(search, "change", CHANGES),
    ...whole(search, "row"),
  }),
  component: lazyRouteComponent(() => import("./ComparePage"), "ComparePage"),
});

const one = createRoute({
  getParentRoute: () => rootRoute,
  path: "/evaluations/$name",
  validateSearch: (search: Search) => ({
    ...oneOf(search, "tab", TABS),
    ...text(search, "outcome"),
    ...text(search, "evaluator"),
    ...oneOf(search, "only", ["failed"]),
    ...text(search, "q"),
    ...whole(search, "row"),
    ...whole(search, "repeat"),
  }),
  component: lazyRouteComponent(() => import("./EvaluationPage"), "EvaluationPage"),
});

export const routes = [list, create, compare, one] as const;
