import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "../root";
import { oneOf, text } from "../search";

const workflows = createRoute({
  getParentRoute: () => rootRoute,
  path: "/workflows",
  component: lazyRouteComponent(() => import("./WorkflowsPage"), "WorkflowsPage"),
});

const boards = createRoute({
  getParentRoute: () => rootRoute,
  path: "/boards",
  validateSearch: (search: Record<string, unknown>) => ({
    ...text(search, "q"),
    ...oneOf(search, "deleted", ["yes"]),
  }),
  component: lazyRouteComponent(() => import("./BoardsPage"), "BoardsPage"),
});

const board = createRoute({
  getParentRoute: () => rootRoute,
  path: "/boards/$board",
  validateSearch: (search: Record<string, unknown>) => ({
    ...text(search, "thread"),
    ...text(search, "turn"),
    ...oneOf(search, "as", ["chat", "completion"]),
  }),
  component: lazyRouteComponent(() => import("./BoardPage"), "BoardPage"),
});

export const routes = [workflows, boards, board] as const;
