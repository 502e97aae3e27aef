"""Agents of the benchmark as workflows: `agent:tool-calling?env=retail&task=5&model=gpt-5`.

Domain, task and model are parameters, so that two threads can compare two of them. Files, folders
and servers of models come from addresses that were named at the start alone.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import orjson
from anyio import to_thread

from greenroom.agents import AgentStrategy, find_strategy, strategy_names
from greenroom.benchmark import check_config
from greenroom.benchmark.context import prepare_run
from greenroom.benchmark.sessions import SESSION_EXPIRED, AgentSessions
from greenroom.domains.plugins import domain_names
from greenroom.errors import GreenroomError, InputError, UnknownName
from greenroom.playground.open_targets import OpenTargets
from greenroom.playground.targets import register_target
from greenroom.workflows.call.local import LocalTarget
from greenroom.workflows.calls import (
    IS_CHAT,
    Answer,
    Call,
    CallError,
    Event,
    Profile,
    Schemas,
    Target,
)
from greenroom.workflows.declare.schemas import MESSAGE_SCHEMA, MESSAGES_SCHEMA

if TYPE_CHECKING:
    from greenroom.playground.state import Playground

SCHEME = "agent"

_DEFAULTS: dict[str, Any] = {"env": "retail", "task": 0, "max_num_steps": 200}
_NUMBERS = {"task": int, "max_num_steps": int, "temperature": float}


def agent_address(strategy: AgentStrategy) -> str:
    """The address of an agent, in its plainest form."""
    return f"{SCHEME}:{strategy.name}"


@cache
def talking_agents() -> tuple[AgentStrategy, ...]:
    """The installed agents that can be talked to: those that do not play from a script."""
    found: list[AgentStrategy] = []
    for name in strategy_names():
        try:
            strategy = find_strategy(name)
        except GreenroomError:
            continue  # a plug-in that cannot be loaded
        if not strategy.reads_script and strategy.create_user is None:
            found.append(strategy)
    return tuple(found)


class AgentTarget:
    """An agent; each set of parameters has its own sessions, each session its own world."""

    def __init__(self, address: str, strategy: AgentStrategy, given: dict[str, Any]) -> None:
        self._strategy = strategy
        self._given = given
        self._sessions = OpenTargets(self._open)
        self.profile = _profile(address, strategy, given)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Answer calls while the block runs."""
        async with self._sessions.running():
            yield

    async def call(self, call: Call) -> Answer:
        async with self._sessions.use(self._key(call)) as target:
            with _told_of_worlds():
                return await target.call(_plain(call))

    async def stream(self, call: Call) -> AsyncGenerator[Event]:
        async with self._sessions.use(self._key(call)) as target:
            with _told_of_worlds():
                async for event in target.stream(_plain(call)):
                    yield event

    async def close(self) -> None:
        """Sessions are closed with `running`."""

    def _key(self, call: Call) -> str:
        parameters = call.parameters or {}
        unknown = sorted(set(parameters) - set(_schema(self._strategy)["properties"]))
        if unknown:
            raise UnknownName("parameter", unknown[0], _schema(self._strategy)["properties"])
        wanted = {name: value for name, value in parameters.items() if value not in (None, "")}
        if wanted.get("env", "retail") not in domain_names():
            raise UnknownName("domain", str(wanted["env"]), domain_names())
        fields = {**_DEFAULTS, **self._given, **wanted}
        return orjson.dumps(fields, option=orjson.OPT_SORT_KEYS).decode()

    @asynccontextmanager
    async def _open(self, key: str) -> AsyncGenerator[Target]:
        fields = orjson.loads(key)
        task = fields.pop("task")
        if not isinstance(task, int):
            raise InputError(f"The task is a number of the domain's tasks, and {task!r} is none.")
        config = check_config({**fields, "agent_strategy": self._strategy.name})
        context = await to_thread.run_sync(prepare_run, config)
        context.domain.task(task, context.split)
        sessions = AgentSessions(context, task_index=task)
        async with sessions.running():
            yield LocalTarget(sessions.workflow())


@asynccontextmanager
async def open_agent(playground: Playground, address: str) -> AsyncGenerator[Target]:
    """The agent at an address."""
    name, _, query = address.removeprefix(f"{SCHEME}:").partition("?")
    strategy = await to_thread.run_sync(_talking, name)
    given: dict[str, Any] = {}
    for key, text in parse_qsl(query):
        try:
            given[key] = _NUMBERS.get(key, str)(text)
        except ValueError:
            raise InputError(f"{key} is a number, and '{text}' is none.") from None
    free = set(_schema(strategy)["properties"])
    if not playground.workflows.named_at_start(address) and not set(given) <= free:
        other = sorted(set(given) - free)[0]
        raise InputError(
            f"'{other}' is set where the playground starts, as in: greenroom playground "
            f"'{SCHEME}:{name}?{other}=...'. Here can be set: {', '.join(sorted(free))}."
        )
    target = AgentTarget(address, strategy, given)
    async with target.running():
        yield target


def _talking(name: str) -> AgentStrategy:
    strategies = {one.name: one for one in talking_agents()}
    if name in strategies:
        return strategies[name]
    if name in strategy_names():
        raise InputError(
            f"The {name} agent plays from a script and cannot be talked to. Choose one of "
            f"{', '.join(strategies)}."
        )
    raise UnknownName("agent", name, strategies)


@contextmanager
def _told_of_worlds() -> Generator[None]:
    """Say in the words of pages that an agent's world has moved on."""
    try:
        yield
    except CallError as error:
        if error.kind != SESSION_EXPIRED:
            raise
        text = (
            "The world of this agent has moved on, or was left when the playground ended. It "
            "cannot go back or go on from a copy: begin a new thread."
        )
        raise CallError(text, status=error.status, kind=error.kind) from None


def _plain(call: Call) -> Call:
    """The call without parameters: they chose the sessions."""
    return Call(
        inputs=call.inputs,
        session_id=call.session_id,
        new_session=call.new_session,
        traceparent=call.traceparent,
    )


def _schema(strategy: AgentStrategy) -> dict[str, Any]:
    model = {"type": "string", "description": "The agent's model; its key is in the environment."}
    return {
        "type": "object",
        "properties": {
            "env": {"type": "string", "enum": domain_names(), "description": "The domain."},
            "task": {
                "type": "integer",
                "minimum": 0,
                "description": "The task whose world is used; its instruction is not.",
            },
            "model": model,
            "model_provider": {"type": "string", "description": "Its provider."},
            "temperature": {"type": "number", "minimum": 0},
            "max_num_steps": {"type": "integer", "minimum": 1, "description": "Steps in all."},
        },
        "required": ["model"] if strategy.needs_model else [],
        "additionalProperties": False,
    }


def _profile(address: str, strategy: AgentStrategy, given: dict[str, Any]) -> Profile:
    free = _schema(strategy)
    shown = {**_DEFAULTS, **{k: v for k, v in given.items() if k in free["properties"]}}
    free["required"] = [one for one in free["required"] if one not in given]
    return Profile(
        name=strategy.name,
        is_chat=True,
        flags={IS_CHAT: True},
        schemas=Schemas(
            inputs={
                "type": "object",
                "properties": {"messages": MESSAGES_SCHEMA},
                "required": ["messages"],
                "additionalProperties": False,
            },
            parameters=free,
            outputs=MESSAGE_SCHEMA,
        ),
        parameters=shown,
        description=strategy.summary,
        address=address,
        decided_by="its kind: agents of the benchmark talk with a user",
    )


register_target(SCHEME, open_agent)
