"""Talking to an agent by A2A, with its official SDK: the card, and one conversation's messages.

The agent is somebody else's: what it sends is bounded, its card cannot lead to another host, and
whatever it does wrong becomes one of two errors.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import uuid4

import anyio

from greenroom._version import __version__
from greenroom.errors import GreenroomError, InputError, redacted
from greenroom.models.faults import OVERLOADED, excerpt
from greenroom.tracing import spans
from greenroom.util.bodies import LIMIT_VARIABLE, answer_limit
from greenroom.util.hosts import TOKEN_VARIABLE, is_loopback
from greenroom.workflows.call.addresses import parse_address

if TYPE_CHECKING:
    import httpx
    from a2a.client import Client
    from a2a.types import AgentCard, Artifact, Message, Part, StreamResponse, Task

_CONNECT_SECONDS = 10.0
_CONNECTIONS = 1000
_UNAVAILABLE = OVERLOADED | {408, 502, 504}
_UNAUTHORIZED = frozenset({401, 403})
_FIRST_WAIT, _LONGEST_WAIT = 0.1, 2.0
_SECONDS_TO_CANCEL = 2.0
_SHOWN_CARD = 80


class A2aFailed(GreenroomError):
    """The agent failed, or answered what cannot be used."""

    outcome = "crashed"


class A2aUnavailable(GreenroomError):
    """The agent cannot be reached: the network or its server failed."""

    outcome = "infrastructure_error"


@dataclass(frozen=True)
class A2aAgent:
    """An agent that was found: its client, for any number of conversations."""

    client: Client
    url: str
    facts: dict[str, str]


@asynccontextmanager
async def open_agent(url: str, *, card_seconds: float = 30.0) -> AsyncGenerator[A2aAgent]:
    """Find the agent at an address by its card; raises InputError if there is none."""
    try:
        from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
    except ImportError:
        raise InputError("A2A needs its package: pip install 'greenroom[a2a]'.") from None
    base = parse_address(url).base
    async with _http(base) as http:
        try:
            with anyio.fail_after(card_seconds):
                card = await A2ACardResolver(http, base).get_agent_card()
            _check_interfaces(base, card)
            bindings = ["JSONRPC", "HTTP+JSON"]
            config = ClientConfig(httpx_client=http, supported_protocol_bindings=bindings)
            client = ClientFactory(config).create(card)
        except InputError:
            raise
        except TimeoutError:
            raise InputError(
                f"There is no A2A agent at {base}: no card within {card_seconds:g} seconds."
            ) from None
        except Exception as error:
            # A card may be wrong in any way; the SDK tells only some of them by its own errors.
            why = excerpt(redacted(str(error)) or type(error).__name__)
            raise InputError(f"There is no usable A2A agent at {base}: {why}") from error
        named = f"{card.name[:_SHOWN_CARD]} {card.version[:_SHOWN_CARD]}".strip()
        yield A2aAgent(client, base, {"A2A agent": named or "without a name"})


def _check_interfaces(base: str, card: AgentCard) -> None:
    """Refuse a card that leads away: the token and the episode's addresses go to one host."""
    given = urlsplit(base)
    for interface in card.supported_interfaces:
        found = urlsplit(interface.url)
        same = found.hostname == given.hostname or (
            is_loopback(found.hostname or "") and is_loopback(given.hostname or "")
        )
        if not same or found.scheme not in ("https", given.scheme):
            raise InputError(
                f"The card of {base} leads to {excerpt(interface.url)}: give that address."
            )


@asynccontextmanager
async def _http(base: str) -> AsyncGenerator[httpx.AsyncClient]:
    import httpx

    headers = {"User-Agent": f"greenroom/{__version__}", "Accept-Encoding": "identity"}
    if token := os.environ.get(TOKEN_VARIABLE, "").strip():
        headers["Authorization"] = f"Bearer {token}"
    # A proxy cannot reach agents on this machine. Redirects are not followed: the token stays here.
    near = is_loopback(urlsplit(base).hostname or "")
    limits = httpx.Limits(max_connections=_CONNECTIONS)
    transport = _bounded_transport(httpx.AsyncHTTPTransport(limits=limits, trust_env=not near))
    # Turns have a limit of their own.
    timeout = httpx.Timeout(None, connect=_CONNECT_SECONDS)
    async with httpx.AsyncClient(
        transport=transport, headers=headers, timeout=timeout, trust_env=False
    ) as http:
        yield http


def _bounded_transport(inner: httpx.AsyncHTTPTransport) -> httpx.AsyncBaseTransport:
    import httpx

    limit = answer_limit()

    class Counted(httpx.AsyncByteStream):
        def __init__(self, stream: httpx.AsyncByteStream) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            left = limit
            async for piece in self._stream:
                left -= len(piece)
                if left < 0:
                    raise A2aFailed(
                        f"The agent's answer is larger than {limit / 2**20:g} MB "
                        f"({LIMIT_VARIABLE} sets this)."
                    )
                yield piece

        async def aclose(self) -> None:
            await self._stream.aclose()

    class Bounded(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            if (here := spans.traceparent()) is not None:
                request.headers["traceparent"] = here
            response = await inner.handle_async_request(request)
            assert isinstance(response.stream, httpx.AsyncByteStream)
            if response.headers.get("content-encoding", "identity") != "identity":
                await response.aclose()
                raise A2aFailed("The agent's answer is packed, though nobody asked for that.")
            response.stream = Counted(response.stream)
            return response

        async def aclose(self) -> None:
            await inner.aclose()

    return Bounded()


@dataclass
class A2aConversation:
    """One conversation: the context's id is kept from the first answer on."""

    agent: A2aAgent
    context_id: str = ""
    task_id: str = ""
    """The task that waits for the user's answer, if any."""
    _running: str = field(default="", repr=False)
    _before: _Heard | None = field(default=None, repr=False)
    """What was heard of the task that waits."""

    async def say(self, parts: Sequence[Part]) -> str:
        """Send a message of the user; give what the agent answers.

        Raises A2aFailed or A2aUnavailable, and InputError if it wants a token. Cancelling it
        cancels the agent's task.
        """
        from a2a.types import Message, Role, SendMessageRequest

        message = Message(
            message_id=uuid4().hex,
            context_id=self.context_id,
            task_id=self.task_id,
            role=Role.ROLE_USER,
            parts=parts,
        )
        self.task_id = ""
        try:
            return await self._answered(SendMessageRequest(message=message))
        except (A2aFailed, A2aUnavailable):
            raise
        except Exception as error:
            raise self._failure(error) from error
        finally:
            await self._cancel_running()

    async def _answered(self, request: Any) -> str:
        from a2a.types import GetTaskRequest

        heard = _Heard(self._before)
        self._before = None
        async with aclosing(_events(self.agent.client, request)) as events:
            async for event in events:
                if event.HasField("message"):
                    self.context_id = event.message.context_id or self.context_id
                    self._running = ""
                    return _text(event.message.parts)
                heard.take(event)
                self.context_id = heard.context_id or self.context_id
                self._running = heard.task_id
        if not heard.task_id:
            raise A2aFailed("The agent answered without a message and without a task.")
        wait = _FIRST_WAIT
        while heard.is_working:
            await anyio.sleep(wait)
            wait = min(wait * 2, _LONGEST_WAIT)
            heard.take_task(await self.agent.client.get_task(GetTaskRequest(id=heard.task_id)))
        self._running = ""
        words, waits = heard.outcome()
        self.task_id, self._before = (heard.task_id, heard) if waits else ("", None)
        return words

    async def _cancel_running(self) -> None:
        """Have the agent stop what nobody waits for any more."""
        running, self._running = self._running, ""
        if not running:
            return
        from a2a.types import CancelTaskRequest

        with anyio.move_on_after(_SECONDS_TO_CANCEL, shield=True):
            try:
                await self.agent.client.cancel_task(CancelTaskRequest(id=running))
            except Exception:
                return  # it is over already, or the agent is gone

    def _failure(self, error: Exception) -> GreenroomError:
        import httpx

        cause = error.__cause__
        why = excerpt(redacted(str(error)) or type(error).__name__)
        if isinstance(cause, httpx.HTTPStatusError):
            status = cause.response.status_code
            text = f"{self.agent.url} answered {status}."
            if status in _UNAUTHORIZED:
                # No episode can be played, and none should count against the agent.
                return InputError(f"{text} Set {TOKEN_VARIABLE} to a token that it takes.")
            return A2aUnavailable(text) if status in _UNAVAILABLE else A2aFailed(text)
        if isinstance(cause, httpx.RequestError) or isinstance(error, httpx.RequestError):
            return A2aUnavailable(f"The connection to {self.agent.url} failed: {why}")
        return A2aFailed(f"The agent at {self.agent.url} failed: {why}")


async def _events(client: Client, request: Any) -> AsyncGenerator[StreamResponse]:
    async for event in client.send_message(request):
        yield event


class _Heard:
    """What is known of a task, from its events or as a whole.

    A task that goes on tells again what it said and made before: only what is new is an answer.
    """

    def __init__(self, before: _Heard | None = None) -> None:
        self.task_id = ""
        self.context_id = ""
        self._state = 0
        self._status: Message | None = None
        self._said: Message | None = None
        self._artifacts: dict[str, list[Part]] = {}
        """What was made since."""
        self._made: dict[str, list[Part]] = {} if before is None else dict(before._made)  # noqa: SLF001
        """All that was made."""
        self._former = dict(self._made)
        self._told: set[str] = set() if before is None else set(before._told)  # noqa: SLF001
        """The ids of messages."""
        self._former_messages = frozenset(self._told)

    def take(self, event: StreamResponse) -> None:
        if event.HasField("task"):
            self.take_task(event.task)
        elif event.HasField("status_update"):
            update = event.status_update
            self._note(update.task_id, update.context_id)
            self._take_status(update.status)
        elif event.HasField("artifact_update"):
            update = event.artifact_update
            self._note(update.task_id, update.context_id)
            self._take_artifact(update.artifact, append=update.append)

    def take_task(self, task: Task) -> None:
        self._note(task.id, task.context_id)
        self._take_status(task.status)
        for artifact in task.artifacts:
            self._take_whole(artifact)
        from a2a.types import Role

        for message in task.history:
            if message.role == Role.ROLE_AGENT:
                self._take_message(message)

    @property
    def is_working(self) -> bool:
        from a2a.types import TaskState

        return self._state in (
            TaskState.TASK_STATE_UNSPECIFIED,
            TaskState.TASK_STATE_SUBMITTED,
            TaskState.TASK_STATE_WORKING,
        )

    def outcome(self) -> tuple[str, bool]:
        """What the agent says, and whether its task waits for an answer; raises A2aFailed."""
        from a2a.types import TaskState

        told = "" if self._status is None else _text(self._status.parts)
        made = "\n\n".join(filter(None, map(_text, self._artifacts.values())))
        said = "" if self._said is None else _text(self._said.parts)
        if self._state == TaskState.TASK_STATE_INPUT_REQUIRED:
            return told or made or said, True
        if self._state == TaskState.TASK_STATE_COMPLETED:
            return made or told or said, False  # results are artifacts; the status tells of them
        name = TaskState.Name(self._state).removeprefix("TASK_STATE_").lower().replace("_", " ")
        raise A2aFailed(
            f"The agent's task ended as {name}" + (f": {excerpt(told)}" if told else ".")
        )

    def _note(self, task_id: str, context_id: str) -> None:
        self.task_id = task_id or self.task_id
        self.context_id = context_id or self.context_id

    def _take_status(self, status: Any) -> None:
        self._state = status.state
        self._status = None
        if status.HasField("message") and self._take_message(status.message):
            self._status = status.message

    def _take_message(self, message: Message) -> bool:
        """Note a message of the agent; False if it was said before."""
        if message.message_id in self._former_messages:
            return False
        self._told.add(message.message_id)
        self._said = message
        return True

    def _take_artifact(self, artifact: Artifact, *, append: bool) -> None:
        name = artifact.artifact_id
        for known in (self._artifacts, self._made):
            known[name] = [*(known.get(name, []) if append else []), *artifact.parts]

    def _take_whole(self, artifact: Artifact) -> None:
        name, parts = artifact.artifact_id, list(artifact.parts)
        former = self._former.get(name, [])
        self._made[name] = parts
        self._artifacts[name] = parts[len(former) :] if parts[: len(former)] == former else parts


def _text(parts: Any) -> str:
    """The texts of parts; if there are none, the data as JSON."""
    from google.protobuf.json_format import MessageToDict

    texts = "".join([one.text for one in parts if one.HasField("text")])
    if texts:
        return texts
    data = [MessageToDict(one.data) for one in parts if one.HasField("data")]
    return "\n".join([json.dumps(one, ensure_ascii=False) for one in data])


__all__ = ["A2aAgent", "A2aConversation", "A2aFailed", "A2aUnavailable", "open_agent"]
