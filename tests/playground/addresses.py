"""The address of every page."""

from __future__ import annotations

PAGES = (
    "/",
    "/workflows",
    "/boards",
    "/boards/{chat}",
    "/boards/{completion}?as=completion",
    "/test-sets",
    "/test-sets/books",
    "/test-sets/questions",
    "/evaluations",
    "/evaluations/new",
    "/evaluations/desk",
    "/evaluations/compare?a=desk&b=desk-again",
    "/runs",
    "/runs/monday",
    "/runs/monday/episodes/{task}/{trial}",
    "/runs/monday/tasks/{task}/beside?other=oracle",
    "/runs/compare?a=oracle&b=monday",
    "/trends?agent=synthetic",
    "/notes",
    "/notes/agreement?run=monday",
    "/nothing-here",
)
"""With the names that `seed` gives; test_routes.py checks that no page is missing."""
