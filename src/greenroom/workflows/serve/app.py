"""All routes of all workflows in one FastAPI application."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
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
from greenroom.workflows.serve.headers import CallIds
from greenroom.workflows.serve.limits import (
    MAX_BODY,
    MAX_CONCURRENT_CALLS,
    AdmissionMiddleware,
    Slots,
)
from greenroom.workflows.serve.openai_routes import (
    complete_chat,
    list_models,
    openai_shape,
    show_model,
)
from greenroom.workflows.serve.openapi import Mounted, document
from greenroom.workflows.serve.runner import CallRunner, RouteApp

_TAKEN = frozenset({"inspect", "invoke", "run", "test", "health", "v1", "openapi.json"})
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
) -> WorkflowApp:
    """A server for these workflows.

    The first one answers at the root; of several, each also answers under its name. With a token,
    requests need it as a bearer token. Pages of `cors_origins` may call from a browser.
    """
    mounted = _mounted(workflows)
    slots, threads = Slots(max_concurrent_calls), anyio.CapacityLimiter(max_concurrent_calls)
    runners = {
        one: CallRunner(one, max_body=max_body, slots=slots, threads=threads) for one in workflows
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
            routes += _openai_routes(one.prefix, {slug: runner}, max_body)
    routes += [*_openai_routes("", chat, max_body), _route("/health", _health, "GET")]
    app.router.routes[:0] = routes
    return app


def _mounted(workflows: Sequence[Workflow]) -> list[Mounted]:
    if not workflows:
        raise InputError("There is no workflow to serve.")
    known: dict[str, Workflow] = {}
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
        known[one.slug] = one
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


def _openai_routes(prefix: str, runners: dict[str, CallRunner], max_body: int) -> list[Route]:
    completions = RouteApp(partial(complete_chat, runners, max_body), openai_shape)
    model = RouteApp(partial(show_model, runners), openai_shape)
    return [
        Route(f"{prefix}/v1/chat/completions", completions, methods=["POST"]),
        _route(f"{prefix}/v1/models", partial(list_models, runners), "GET"),
        Route(f"{prefix}/v1/models/{{name}}", model, methods=["GET"]),
    ]


def _route(path: str, handle: Any, *methods: str) -> Route:
    return Route(path, RouteApp(handle), methods=methods)


async def _health(exchange: Exchange) -> None:
    await exchange.answer(200, {"status": "ok"})


def _cors(origins: Sequence[str]) -> list[Middleware]:
    if not origins:
        return []
    return [
        Middleware(
            CORSMiddleware,
            allow_origins=list(origins),
            allow_methods=["GET", "POST"],
            allow_headers=["*"],
            expose_headers=_ANSWER_HEADERS,
        )
    ]
