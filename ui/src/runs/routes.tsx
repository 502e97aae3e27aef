import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { NOTED } from "../notes/choices";
import { rootRoute } from "../root";
import { oneOf, text, whole } from "../search";

export const TABS = ["overview", "tasks", "episodes", "slices", "costs", "setup"] as const;
export type Tab = (typeof TABS)[number];

type Search = Record<string, unknown>;

const filter = (search: Search) => ({
  ...text(search, "outcome"),
  ...text(search, "kind"),
  ...text(search, "tool"),
  ...whole(search, "task"),
  ...text(search, "q"),
  ...oneOf(search, "noted", NOTED),
});

const list = createRoute({
  getParentRoute: () => rootRoute,
  path: "/runs",
  validateSearch: (search: Search) => text(search, "q"),
  component: lazyRouteComponent(() => import("./RunsPage"), "RunsPage"),
});

const compare = createRoute({
  getParentRoute: () => rootRoute,
  path: "/runs/compare",
  validateSearch: (search: Search) => ({
    ...text(search, "a"),
    ...text(search, "b"),
    ...oneOf(search, "flips", ["broke", "healed"]),
    ...oneOf(search, "tasks", ["equal"]),
  }),
  component: lazyRouteComponent(() => import("./ComparePage"), "ComparePage"),
});

const one = createRoute({
  getParentRoute: () => rootRoute,
  path: "/runs/$run",
  validateSearch: (search: Search) => ({
    ...oneOf(search, "tab", TABS),
    ...filter(search),
    ...whole(search, "trials"),
  }),
  component: lazyRouteComponent(() => import("./RunPage"), "RunPage"),
});

const episode = createRoute({
  getParentRoute: () => rootRoute,
  path: "/runs/$run/episodes/$task/$trial",
  validateSearch: (search: Search) => ({ ...filter(search), ...whole(search, "turn"), ...whole(search, "step") }),
  component: lazyRouteComponent(() => import("./EpisodePage"), "EpisodePage"),
});

const beside = createRoute({
  getParentRoute: () => rootRoute,
  path: "/runs/$run/tasks/$task/beside",
  validateSearch: (search: Search) => ({
    ...text(search, "other"),
    ...whole(search, "trial"),
    ...whole(search, "other_trial"),
    ...whole(search, "other_task"),
  }),
  component: lazyRouteComponent(() => import("./BesidePage"), "BesidePage"),
});

const trends = createRoute({
  getParentRoute: () => rootRoute,
  path: "/trends",
  validateSearch: (search: Search) => ({ ...text(search, "agent"), ...text(search, "env") }),
  component: lazyRouteComponent(() => import("./TrendsPage"), "TrendsPage"),
});

export const routes = [list, compare, one, episode, beside, trends] as const;
