"""MCP over HTTP by its official package: every request is answered by itself, without a session.

So one address serves the revision without sessions and those before it, and clients that keep a
connection as well as clients that initialize for every request. The package is an extra.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from starlette.routing import Route, Router

from greenroom.errors import InputError
from greenroom.workflows.serve.exchange import Exchange, Refusal, reason_of
from greenroom.workflows.serve.limits import AdmissionMiddleware
from greenroom.workflows.serve.runner import RouteApp, cancel_on_disconnect

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from mcp.server.lowlevel import Server
    from starlette.types import ASGIApp, Receive, Scope, Send

_INVALID_REQUEST = -32600


class McpMissing(InputError):
    """The package is not installed."""

    def __init__(self) -> None:
        super().__init__("MCP needs its package: pip install 'greenroom[mcp]'.")


def check_mcp() -> None:
    """Raise if the package is not installed, or is too old."""
    try:
        for needed in ("mcp.server.streamable_http_manager", "mcp_types.version"):
            import_module(needed)
    except ImportError:
        raise McpMissing from None


async def answer_mcp(
    server: Server[Any], exchange: Exchange, *, max_body: int, streams: bool = False
) -> None:
    """Answer one request of an MCP client; one that closes its connection cancels the work.

    With `streams`, a client that asks for progress gets it while its call runs.
    """
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    if exchange.method != "POST":
        # There are no sessions to end, and no messages of the server to wait for.
        text = "This is an MCP server: clients send POST requests here."
        raise Refusal(405, {"detail": text}, [(b"allow", b"POST")])
    body = await exchange.body(max_body)
    manager = StreamableHTTPSessionManager(
        server,
        json_response=not (streams and b'"progressToken"' in body),
        stateless=True,
        max_request_body_size=max_body,
    )

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        async with manager.run():
            await manager.handle_request(scope, receive, send)

    await cancel_on_disconnect(exchange.receive, exchange.hand_over(answer, body))


def mcp_app(
    handle: Callable[[Exchange], Awaitable[None]],
    *,
    token: str | None = None,
    origins: Sequence[str] = (),
) -> ASGIApp:
    """An application that answers MCP's clients at /mcp, for those who know the token."""
    answering = RouteApp(handle, mcp_shape)
    router = Router([Route("/mcp", answering)], redirect_slashes=False)
    return AdmissionMiddleware(router, token=token, origins=origins, shape=mcp_shape)


def mcp_shape(refusal: Refusal) -> Refusal:
    """A refusal as MCP's clients read it."""
    error = {"code": _INVALID_REQUEST, "message": reason_of(refusal)}
    body = {"jsonrpc": "2.0", "id": None, "error": error}
    return Refusal(refusal.status, body, refusal.headers)
