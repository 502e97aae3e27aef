"""All routes of all workflows in one FastAPI application."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

import anyio
from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import Route

from greenroom._version import __version__
from greenroom.errors import InputError
from greenroom.workflows.declare.workflow import Workflow
from greenroom.workflows.serve.agenta_routes import inspect, invoke, run
from greenroom.workflows.serve.exchange import Exchange
from greenroom.workflows.serve.front_page import FrontPage
from greenroom.workflows.serve.headers import CallIds
from greenroom.workflows.serve.limits import (
    MAX_BODY,
    MAX_CONCURRENT_CALLS,
    AdmissionMiddleware,
    Slots,
)
from greenroom.workflows.serve.mcp_routes import answer_workflows, tool_name
from greenroom.workflows.serve.mcp_transport import mcp_shape
from greenroom.workflows.serve.metrics import METRICS_TYPE, Metrics
from greenroom.workflows.serve.observing import ObservingMiddleware
from greenroom.workflows.serve.openai_routes import (
    complete_chat,
    list_models,
    openai_shape,
    show_model,
)
from greenroom.workflows.serve.openapi import Mounted, document
from greenroom.workflows.serve.responses_routes import create_response, no_part, stored_response
from greenroom.workflows.serve.runner import CallRunner, Handle, RouteApp, Shape
from greenroom.workflows.serve.stored_responses import StoredResponses
from greenroom.workflows.serve.streams import SECONDS_OF_SILENCE

_TAKEN = frozenset(
    {"inspect", "invoke", "run", "test", "health", "mcp", "metrics", "v1", "openapi.json"}
)
MCP_PATH = "/mcp"
"""Where the workflows are tools of an MCP server, if its package is installed."""
_ANSWER_HEADERS = [name.decode() for name, _ in CallIds("", "", "").headers]


class WorkflowApp(FastAPI):
    """A FastAPI application whose OpenAPI document describes the routes of its workflows."""

    def __init__(self, mounted: Sequence[Mounted], *, secured: bool, **settings: Any) -> None:
        super().__init__(**settings)
        self.mounted = tuple(mounted)
        self._secured = secured

    def openapi(self) -> dict[str, Any]:
        """The document: the workflows' operations, and those of added routes."""
        found, own = super().openapi(), document(self.mounted, secured=self._secured)
        components = found.get("components", {})
        schemas = components.get("schemas", {}) | own["components"]["schemas"]
        return {
            **found,
            **own,
            "paths": own["paths"] | found.get("paths", {}),
            "components": components | own["components"] | {"schemas": schemas},
        }


def create_app(
    *workflows: Workflow,
    token: str | None = None,
    cors_origins: Sequence[str] = (),
    max_body: int = MAX_BODY,
    max_concurrent_calls: int = MAX_CONCURRENT_CALLS,
    timeout: float | None = None,
    keep_alive: float = SECONDS_OF_SILENCE,
    access_log: bool = False,
) -> WorkflowApp:
    """A server for these workflows.

    The first one answers at the root; of several, each also answers under its name. With a token,
    requests need it as a bearer token. Pages of `cors_origins` may call from a browser. A call ends
    after `timeout` seconds. Streams that are silent for `keep_alive` seconds carry a comment. The
    access log is that of the logger `greenroom.access`.
    """
    mounted = _mounted(workflows)
    slots, threads = Slots(max_concurrent_calls), anyio.CapacityLimiter(max_concurrent_calls)
    metrics, stored = Metrics(), StoredResponses()
    runners = {
        one: CallRunner(
            one,
            max_body=max_body,
            slots=slots,
            threads=threads,
            metrics=metrics,
            timeout=timeout,
            keep_alive=keep_alive,
        )
        for one in workflows
    }
    app = WorkflowApp(
        mounted,
        secured=token is not None,
        title=", ".join(one.name for one in workflows),
        description=workflows[0].description if len(workflows) == 1 else "Workflows.",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        middleware=[
            Middleware(ObservingMiddleware, metrics=metrics, access_log=access_log),
            *_cors(cors_origins),
            Middleware(AdmissionMiddleware, token=token, origins=cors_origins),
        ],
    )
    chat = {one.slug: runners[one] for one in workflows if one.is_chat}
    routes: list[Route] = []
    for one in mounted:
        runner, slug = runners[one.workflow], one.workflow.slug
        routes += _routes(one.prefix, runner)
        if one.prefix and slug in chat:
            routes += _openai_routes(one.prefix, {slug: runner}, stored, max_body)
    routes += [
        *_openai_routes("", chat, stored, max_body),
        _route("/", _front_page(workflows, secured=token is not None), "GET"),
        _route("/health", _health, "GET"),
        _mcp_route(list(runners.values()), max_body),
        _route("/metrics", partial(_metrics, metrics, slots, stored), "GET"),
    ]
    app.router.routes[:0] = routes
    return app


def _mounted(workflows: Sequence[Workflow]) -> list[Mounted]:
    if not workflows:
        raise InputError("There is no workflow to serve.")
    known: dict[str, Workflow] = {}
    tools: dict[str, str] = {}
    for one in workflows:
        if one.slug in known:
            raise InputError(
                f"Two workflows are called '{one.slug}' in addresses: give one of them another "
                "name, as in @workflow(name=...)."
            )
        if len(workflows) > 1 and one.slug in _TAKEN:
            raise InputError(
                f"A workflow beside others cannot be called '{one.slug}', which is one of the "
                "server's own paths: give it another name, as in @workflow(name=...)."
            )
        if (tool := tool_name(one)) in tools:
            raise InputError(
                f"The workflows '{tools[tool]}' and '{one.name}' are both called '{tool}' as tools "
                "of MCP: give one of them another name, as in @workflow(name=...)."
            )
        known[one.slug], tools[tool] = one, one.name
    root = Mounted(workflows[0], "")
    if len(workflows) == 1:
        return [root]
    return [root, *(Mounted(one, f"/{one.slug}") for one in workflows)]


def _routes(prefix: str, runner: CallRunner) -> list[Route]:
    return [
        _route(f"{prefix}/invoke", partial(invoke, runner), "POST"),
        _route(f"{prefix}/inspect", partial(inspect, runner), "GET", "POST"),
        _route(f"{prefix}/run", partial(run, runner), "POST"),
        _route(f"{prefix}/test", partial(run, runner), "POST"),
    ]


def _openai_routes(
    prefix: str, runners: dict[str, CallRunner], stored: StoredResponses, max_body: int
) -> list[Route]:
    complete = partial(complete_chat, runners, max_body)
    respond = partial(create_response, runners, stored, max_body)
    again, model = partial(stored_response, runners, stored), partial(show_model, runners)
    return [
        _route(f"{prefix}/v1/chat/completions", complete, "POST", shape=openai_shape),
        _route(f"{prefix}/v1/responses", respond, "POST", shape=openai_shape),
        _route(f"{prefix}/v1/responses/{{id}}", again, "GET", "DELETE", shape=openai_shape),
        _route(
            f"{prefix}/v1/responses/{{id}}/{{part}}", no_part, "GET", "POST", shape=openai_shape
        ),
        _route(f"{prefix}/v1/models", partial(list_models, runners), "GET"),
        _route(f"{prefix}/v1/models/{{name}}", model, "GET", shape=openai_shape),
    ]


def _mcp_route(runners: Sequence[CallRunner], max_body: int) -> Route:
    handle = partial(answer_workflows, runners, max_body)
    return _route(MCP_PATH, handle, "GET", "POST", "DELETE", shape=mcp_shape)


def _route(
    path: str, handle: Handle, *methods: str, shape: Shape = lambda refusal: refusal
) -> Route:
    return Route(path, RouteApp(handle, shape, path), methods=methods)


def _front_page(workflows: Sequence[Workflow], *, secured: bool) -> FrontPage:
    several = len(workflows) > 1
    served = [(one, f"/{one.slug}" if several else "") for one in workflows]

    return FrontPage(served, secured, MCP_PATH if find_spec("mcp_types") else None)


async def _metrics(
    metrics: Metrics, slots: Slots, stored: StoredResponses, exchange: Exchange
) -> None:
    text = metrics.text(in_flight=slots.taken, stored_responses=len(stored))
    await exchange.answer(200, text, kind=METRICS_TYPE)


async def _health(exchange: Exchange) -> None:
    await exchange.answer(200, {"status": "ok"})


def _cors(origins: Sequence[str]) -> list[Middleware]:
    if not origins:
        return []
    return [
        Middleware(
            CORSMiddleware,
            allow_origins=list(origins),
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["*"],
            expose_headers=_ANSWER_HEADERS,
        )
    ]
