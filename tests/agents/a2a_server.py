"""A2A agents of the official SDK, served on this machine."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from a2a.helpers.proto_helpers import new_task_from_user_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Message, Part
from google.protobuf.json_format import MessageToDict
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from greenroom.workflows.serve import running_app

CARD = "/.well-known/agent-card.json"


@dataclass
class Heard:
    """One message of the user, as an agent gets it."""

    text: str
    setup: dict[str, Any]
    context_id: str
    task_id: str
    continues: bool
    """It goes on with a task that waited for it."""
    updater: TaskUpdater
    queue: EventQueue
    headers: dict[str, str]


Take = Callable[[Heard], Awaitable[str | None]]
"""Takes a message; what it gives is said as a plain message."""


@dataclass
class Agent(AgentExecutor):
    """An agent whose turns a function takes; it remembers what it heard."""

    take: Take
    as_task: bool = False
    heard: list[Heard] = field(default_factory=list[Heard])
    cancelled: list[str] = field(default_factory=list[str])

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        message = context.message
        assert message is not None
        assert context.task_id is not None
        assert context.context_id is not None
        data = [MessageToDict(one.data) for one in message.parts if one.HasField("data")]
        texts = [one.text for one in message.parts if one.HasField("text")]
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        heard = Heard(
            texts[-1],
            data[0]["greenroom"] if data else {},
            context.context_id,
            context.task_id,
            context.current_task is not None,
            updater,
            event_queue,
            dict(context.call_context.state.get("headers", {})),
        )
        self.heard.append(heard)
        if self.as_task and context.current_task is None:
            await event_queue.enqueue_event(new_task_from_user_message(message))
        words = await self.take(heard)
        if words is not None:
            await event_queue.enqueue_event(said(updater, words))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        assert context.task_id is not None
        assert context.context_id is not None
        self.cancelled.append(context.task_id)
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def said(updater: TaskUpdater, words: str) -> Message:
    """A message of the agent."""
    return updater.new_agent_message([Part(text=words)])


def card_at(
    url: str, *, streaming: bool = True, binding: str = "JSONRPC", version: str = "1.0"
) -> AgentCard:
    """The card of an agent."""
    return AgentCard(
        name="Clerk",
        description="Sells things.",
        version="1.2",
        supported_interfaces=[
            AgentInterface(url=url, protocol_binding=binding, protocol_version=version)
        ],
        capabilities=AgentCapabilities(streaming=streaming),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="sell", name="sell", description="Sells.", tags=["shop"])],
    )


@contextmanager
def serving(agent: AgentExecutor, **card: Any) -> Generator[str]:
    """The address of a served agent."""
    app = Starlette()
    with running_app(app) as address:
        made = card_at(f"{address}/rpc", **card)
        handler = DefaultRequestHandler(agent, InMemoryTaskStore(), made)
        rest = card.get("binding") == "HTTP+JSON"
        app.router.routes += create_agent_card_routes(made)
        if rest:
            app.router.routes += create_rest_routes(handler, path_prefix="/rpc")
        else:
            app.router.routes += create_jsonrpc_routes(handler, "/rpc", enable_v0_3_compat=True)
        yield address


@contextmanager
def answering(card: Any, answer: Callable[[Request], Awaitable[Response]]) -> Generator[str]:
    """The address of a server that is no agent, with a card and an answer to everything else."""
    app = Starlette()
    with running_app(app) as address:

        async def show(request: Request) -> Response:
            text = card if isinstance(card, str) else json.dumps(card)
            return Response(text.replace("HERE", address), media_type="application/json")

        app.router.routes += [Route(CARD, show), Route("/rpc", answer, methods=["POST"])]
        yield address
