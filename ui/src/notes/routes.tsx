import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "../root";
import { oneOf, text } from "../search";
import { VERDICT_CHOICES } from "./choices";

const list = createRoute({
  getParentRoute: () => rootRoute,
  path: "/notes",
  validateSearch: (search: Record<string, unknown>) => ({
    ...text(search, "run"),
    ...text(search, "evaluation"),
    ...text(search, "thread"),
    ...text(search, "tag"),
    ...oneOf(search, "verdict", VERDICT_CHOICES),
    ...text(search, "author"),
    ...text(search, "q"),
    ...oneOf(search, "deleted", ["yes"]),
  }),
  component: lazyRouteComponent(() => import("./NotesPage"), "NotesPage"),
});

const agreement = createRoute({
  getParentRoute: () => rootRoute,
  path: "/notes/agreement",
  validateSearch: (search: Record<string, unknown>) => ({
    ...text(search, "run"),
    ...text(search, "evaluation"),
    ...oneOf(search, "about", ["verdict", "tag"]),
    ...text(search, "value"),
    ...oneOf(search, "judges", ["yes"]),
  }),
  component: lazyRouteComponent(() => import("./AgreementPage"), "AgreementPage"),
});

export const routes = [list, agreement] as const;
