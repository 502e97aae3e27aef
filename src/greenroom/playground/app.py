"""The application: the API's routes, its errors, and who may come in."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.types import ASGIApp

from greenroom._version import __version__
from greenroom.errors import Conflict, GreenroomError, InputError, UnknownName, redacted
from greenroom.playground.access import Access
from greenroom.playground.guard import AccessMiddleware
from greenroom.playground.pages import Pages
from greenroom.playground.state import Playground

API = "/api/v1"

AREAS: tuple[str, ...] = (
    "access",
    "agreement",
    "boards",
    "comparisons",
    "episodes",
    "evaluations",
    "events",
    "notes",
    "rewind",
    "runs",
    "simulate",
    "testsets",
    "threads",
    "trends",
    "turns",
    "workflows",
)
"""The parts of the API; each is the `router` of a module `<area>_routes` of this package."""

_BAD_INPUT = 422
_BROKEN = 500
_STATUS = {UnknownName: 404, Conflict: 409, InputError: _BAD_INPUT}


def create_app(playground: Playground) -> FastAPI:
    """The playground's API and pages, open to every caller: `guarded` has the door."""
    app = FastAPI(
        title="Greenroom playground",
        version=__version__,
        openapi_url=f"{API}/openapi.json",
        docs_url=None,  # its page loads scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
        lifespan=lambda _: playground.running(),
    )
    app.state.playground = playground
    for area in AREAS:
        router: APIRouter = import_module(f"greenroom.playground.{area}_routes").router
        app.include_router(router, prefix=f"{API}", tags=[area])
    app.add_exception_handler(GreenroomError, _told)
    app.add_exception_handler(RequestValidationError, _told_invalid)
    app.add_exception_handler(Exception, _told_broken)
    app.mount("/", Pages())
    return app


def guarded(app: FastAPI, access: Access) -> ASGIApp:
    """The application for those alone who have a key."""
    app.state.access = access
    return AccessMiddleware(app, access)


async def _told(_: Request, error: Exception) -> JSONResponse:
    status = next((one for kind, one in _STATUS.items() if isinstance(error, kind)), _BROKEN)
    return JSONResponse({"detail": redacted(str(error))}, status)


async def _told_invalid(_: Request, error: Exception) -> JSONResponse:
    problems: list[Any] = list(error.errors()) if isinstance(error, RequestValidationError) else []
    texts = [f"{'.'.join(map(str, one['loc'][1:]))}: {one['msg']}" for one in problems]
    return JSONResponse({"detail": redacted("; ".join(texts))}, _BAD_INPUT)


async def _told_broken(_: Request, error: Exception) -> JSONResponse:
    text = f"The playground has a defect here: {type(error).__name__}: {redacted(str(error))}"
    return JSONResponse({"detail": text}, _BROKEN)
