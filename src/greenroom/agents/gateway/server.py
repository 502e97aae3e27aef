"""The gateway of a run: one server on this machine, with an address of its own for each episode.

An agent that points its client there asks the run's model, with the run's limits, retries, cache,
seed, budget and purse: what it asks is a question to the `Model` of its episode, whatever framework
writes it. Other applications, such as the tools of the environment, are mounted beside the model.
"""

from __future__ import annotations

import asyncio
import hmac
import math
import re
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import Any

import anyio
from starlette.types import ASGIApp, Receive, Scope, Send

from greenroom.agents.gateway import wire
from greenroom.agents.gateway.responses import KeptResponses, respond, respond_again
from greenroom.agents.tool_calls import CallTidier
from greenroom.errors import GreenroomError
from greenroom.models import (
    ChatMessage,
    Completion,
    ContentFiltered,
    ContextWindowExceeded,
    Model,
    ModelRequest,
    RequestRefused,
)
from greenroom.tracing import spans
from greenroom.workflows.serve.exchange import Exchange, Refusal
from greenroom.workflows.serve.limits import MAX_BODY, AdmissionMiddleware, Slots
from greenroom.workflows.serve.openai_routes import openai_shape
from greenroom.workflows.serve.runner import RouteApp, cancel_on_disconnect
from greenroom.workflows.serve.server import served

MAX_CALLS = 64
"""Questions of one episode at once."""
DEFAULT_MODEL = "default"
"""A name for the run's model that needs no configuration."""
TURN_CALLS = 100
"""Questions that an agent may ask in one turn, by default: an end to a loop that takes no step."""
_PATH_BYTES, _TOKEN_BYTES = 24, 32
_SECONDS_TO_END = 1
_KEEP_ALIVE = 3600
"""A connection that we close while a busy client sends its next question would fail the agent."""
_SHOWN_NAME = 80
_RESPONSE = re.compile(r"v1/responses/[^/]+")
_OVERRULED = "settings of the agent that the run overrules"
_SHOWN_SETTINGS = 20
_MENDABLE = (ContextWindowExceeded, ContentFiltered, wire.RequestNotTaken)
"""What an agent may mend by asking otherwise."""


class TooManyCalls(GreenroomError):
    """An agent asks its model on and on, and never ends its turn."""

    outcome = "max_steps"


@dataclass
class _Experience:
    """What the questions of a run have shown."""

    model_answers: bool = False
    """The model has answered, so the settings of the run are right."""


class EpisodeEndpoint:
    """The addresses of one episode, and what is asked there while it is played."""

    def __init__(
        self,
        address: str,
        model: Model | None,
        model_name: str | None,
        seed: int | None,
        experience: _Experience,
    ) -> None:
        self.address = address
        """Unguessable, and below it is all that the episode offers."""
        self.token = f"greenroom-{secrets.token_urlsafe(_TOKEN_BYTES)}"
        """The bearer token that the model's address needs."""
        self.model_name = model_name or DEFAULT_MODEL
        self._mounts: dict[str, ASGIApp] = {}
        self.facts: dict[str, str] = {}
        """What the report should tell of what was asked."""
        self.on_failure: Callable[[Exception], None] = lambda _: None
        """Is told what ends the episode: the model is not there, or the budget is spent."""
        self.problem: Exception | None = None
        """Why the last question got no answer, if so."""
        self.messages: list[ChatMessage] | None = None
        """What was asked last, and the answer."""
        self.responses = KeptResponses()
        self._model = model
        self._seed = seed
        self._experience = experience
        self._calls: set[asyncio.Task[Completion]] = set()
        self._overruled = set[str]()
        self._tidy = CallTidier()
        self._slots = Slots(MAX_CALLS)
        self._closed = False
        self._calls_left = math.inf
        self.context = copy_context()
        """The episode's: what is counted or traced there finds its way from every request."""

    @property
    def model_base(self) -> str | None:
        """The base address for OpenAI's clients; None if the run has no model."""
        return f"{self.address}/v1" if self._model is not None else None

    def mount(self, name: str, app: ASGIApp) -> str:
        """Serve an application below the address; gives its own address.

        Whoever knows the model's address cannot guess it.
        """
        path = f"{name}-{secrets.token_urlsafe(_PATH_BYTES)}"
        self._mounts[path] = app
        return f"{self.address}/{path}"

    def mounted(self, path: str) -> ASGIApp | None:
        """The application with this first part of its path."""
        return self._mounts.get(path)

    def begin_turn(self, calls: int) -> None:
        """Let the agent ask this often until its next turn."""
        self._calls_left = calls

    def check_token(self, exchange: Exchange) -> None:
        """Refuse a request without this episode's token."""
        scheme, _, given = (exchange.header(b"authorization") or b"").partition(b" ")
        known = hmac.compare_digest(given.strip(), self.token.encode())
        if scheme.lower() != b"bearer" or not known:
            raise _unknown_key("This is not the key of this episode.")

    def check_model(self, asked: str | None) -> None:
        """Refuse any model but the run's, and note that another one was asked."""
        if not asked or asked == DEFAULT_MODEL or _is_same_model(asked, self.model_name):
            return
        self.facts["model refused"] = f"{asked[:_SHOWN_NAME]}, the run's is {self.model_name}"
        raise wire.refusal(
            404,
            f"This run asks '{self.model_name}', and no other model: leave the name out, or give "
            f"'{DEFAULT_MODEL}'.",
            "invalid_request_error",
            "model_not_found",
            param="model",
        )

    async def answer(self, exchange: Exchange, request: ModelRequest) -> Completion:
        """The model's answer; raises a Refusal if there is none."""
        if self._model is None:
            text = "The run has no model: name one by --model."
            raise wire.refusal(404, text, "invalid_request_error", "model_not_found")
        with self._slots.one():
            if self._closed:
                raise _over()
            self._count_call()
            context = self.context.copy()
            caller = exchange.header(b"traceparent")
            asking = self._model_answer(self._model, request, caller)
            call = asyncio.create_task(asking, context=context)
            self._calls.add(call)
            call.add_done_callback(self._calls.discard)
            try:
                return await cancel_on_disconnect(exchange.receive, call)
            except asyncio.CancelledError:
                if self._closed:
                    raise _over() from None
                raise

    def _count_call(self) -> None:
        if self._calls_left == 0:
            problem = TooManyCalls("The agent asked its model too often in one turn: turn_calls.")
            self.on_failure(problem)
            raise wire.refusal(429, str(problem), "rate_limit_error", "too_many_calls")
        self._calls_left -= 1

    async def _model_answer(
        self, model: Model, request: ModelRequest, caller: bytes | None
    ) -> Completion:
        try:
            with spans.under(caller):
                completion = await model.complete(request)
        except Exception as error:
            self.problem = problem = self._problem_of(error)
            # An agent may shorten its conversation, or ask otherwise, and go on.
            if not isinstance(problem, _MENDABLE):
                self.on_failure(problem)
            raise wire.failure(problem) from error
        completion = self._tidied(completion)
        self.problem = None
        self._experience.model_answers = True
        self.messages = [*request.messages, completion.message]
        return completion

    def _tidied(self, completion: Completion) -> Completion:
        """The answer as every client takes it: simple servers give several calls the same id."""
        if not completion.tool_calls:
            return completion
        calls = self._tidy(completion.tool_calls)
        return replace(completion, message=completion.message | {"tool_calls": calls})

    def _problem_of(self, error: Exception) -> Exception:
        # Until there was an answer, the settings of the run may be what is wrong.
        if isinstance(error, RequestRefused) and self._experience.model_answers:
            return wire.RequestNotTaken(str(error))
        return error

    def read_chat(self, body: dict[str, Any]) -> wire.Asked:
        """What is asked for a chat completion, with what is left out noted."""
        asked = wire.read_chat(body, self._seed)
        self.check_model(asked.model)
        if not self._overruled.issuperset(asked.ignored):
            self._overruled.update(asked.ignored)
            self.facts[_OVERRULED] = ", ".join(sorted(self._overruled)[:_SHOWN_SETTINGS])
        return asked

    def refuse(self) -> None:
        """Cancel all calls, and refuse those that come."""
        self._closed = True
        for call in self._calls:
            call.cancel()

    async def close(self) -> None:
        """Cancel all calls, and wait until what they spent is counted."""
        self.refuse()
        calls = list(self._calls)
        if calls:
            with anyio.CancelScope(shield=True):
                await asyncio.wait(calls)


class Gateway:
    """The server's application: it finds the episode by its path, and what is asked of it."""

    def __init__(self) -> None:
        self.address = ""
        self._endpoints: dict[str, EpisodeEndpoint] = {}
        self._experience = _Experience()
        self._refusing = RouteApp(_refuse_unknown, openai_shape)

    @asynccontextmanager
    async def episode(
        self, model: Model | None, model_name: str | None = None, *, seed: int | None = None
    ) -> AsyncGenerator[EpisodeEndpoint]:
        """The addresses of an episode while the block runs; after it, they are gone."""
        path = secrets.token_urlsafe(_PATH_BYTES)
        address = f"{self.address}/{path}"
        endpoint = EpisodeEndpoint(address, model, model_name, seed, self._experience)
        self._endpoints[path] = endpoint
        try:
            yield endpoint
        finally:
            del self._endpoints[path]
            await endpoint.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return
        path, _, rest = scope["path"][1:].partition("/")
        endpoint = self._endpoints.get(path)
        if endpoint is None:
            await self._refusing(scope, receive, send)
            return
        name = rest.partition("/")[0]
        if (mounted := endpoint.mounted(name)) is not None:
            root = f"{scope.get('root_path', '')}/{path}/{name}"
            caller = dict(scope["headers"]).get(b"traceparent")
            answering = _answered(mounted({**scope, "root_path": root}, receive, send), caller)
            await asyncio.create_task(answering, context=endpoint.context.copy())
            return

        async def handle(exchange: Exchange) -> None:
            await _answer(endpoint, exchange, rest)

        await RouteApp(handle, openai_shape)(scope, receive, send)


@asynccontextmanager
async def open_gateway() -> AsyncGenerator[Gateway]:
    """A gateway that answers while the block runs."""
    gateway = Gateway()
    guarded = AdmissionMiddleware(gateway, shape=openai_shape)
    async with served(guarded, seconds_to_end=_SECONDS_TO_END, keep_alive=_KEEP_ALIVE) as address:
        gateway.address = address
        yield gateway


async def _answered(answering: Awaitable[None], caller: bytes | None) -> None:
    with spans.under(caller):
        await answering


async def _answer(endpoint: EpisodeEndpoint, exchange: Exchange, path: str) -> None:
    endpoint.check_token(exchange)
    match exchange.method, path:
        case "POST", "v1/chat/completions":
            await _complete_chat(endpoint, exchange)
        case "POST", "v1/responses":
            await respond(endpoint, exchange)
        case "GET", "v1/models":
            await exchange.answer(200, wire.models([endpoint.model_name]))
        case "GET", _ if path.startswith("v1/models/"):
            endpoint.check_model(path.removeprefix("v1/models/"))
            await exchange.answer(200, wire.model_object(endpoint.model_name))
        case "GET" | "DELETE", _ if _RESPONSE.fullmatch(path):
            await respond_again(endpoint, exchange, path.removeprefix("v1/responses/"))
        case _:
            text = (
                f"There is no {exchange.method} /{path[:_SHOWN_NAME]} here, but chat completions, "
                "responses and models."
            )
            raise wire.refusal(404, text, "invalid_request_error", "unknown_url")


async def _complete_chat(endpoint: EpisodeEndpoint, exchange: Exchange) -> None:
    asked = endpoint.read_chat(await exchange.json(MAX_BODY))
    # The whole answer comes first: an error still has its status, in a stream as well.
    completion = await endpoint.answer(exchange, asked.request)
    name = endpoint.model_name
    if not asked.stream:
        await exchange.answer(200, wire.whole(name, completion), asked.headers)
        return
    await exchange.begin(b"text/event-stream", asked.headers)
    await exchange.piece(b"".join(wire.streamed(name, completion, usage=asked.wants_usage)))
    await exchange.end()


def _is_same_model(one: str, other: str) -> bool:
    """Whether two names are equal, but for the provider that may stand before either of them."""
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")


async def _refuse_unknown(exchange: Exchange) -> None:
    raise _over()


def _over() -> Refusal:
    return _unknown_key("This address belongs to no episode that is being played.")


def _unknown_key(text: str) -> Refusal:
    return wire.refusal(401, text, "invalid_request_error", "invalid_api_key")
