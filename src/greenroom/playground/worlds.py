"""The world beside a thread: what its turns changed in the database, record by record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any, Literal
from urllib.parse import parse_qsl

import orjson
from pydantic import BaseModel

from greenroom.domains.diff import ABSENT, record_differences
from greenroom.domains.domain import Domain, load_domain
from greenroom.domains.environment import Environment, UserTools
from greenroom.domains.tasks import Action, respond
from greenroom.domains.tools import ToolInfo
from greenroom.domains.world import Changes, RecordKey, World
from greenroom.domains.worlds import USER_TABLES, Worlds
from greenroom.errors import InputError
from greenroom.messages import text_of
from greenroom.playground.episode_targets import SCHEME as EPISODE
from greenroom.playground.episode_targets import origin_of
from greenroom.store import Store
from greenroom.store.thread_records import ThreadRecord, TurnRecord
from greenroom.util.json_values import as_dict
from greenroom.util.raw_json import DEEPEST, plain
from greenroom.workflows.calls import called_tools

AGENT = "agent"
_MOST_RECORDS = 200
_LONGEST_TEXT = 2000
_MOST_STEPS = 1_000_000


class FieldChange(BaseModel):
    """A field that has another value."""

    path: str
    before: Any = None
    after: Any = None
    absent: Literal["before", "after"] | None = None
    """The side on which there is no such field."""


class RecordChange(BaseModel):
    """A record that is not as it was."""

    table: str
    record: str
    kind: Literal["changed", "added", "deleted"]
    fields: list[FieldChange]


class TurnChanges(BaseModel):
    """What a turn changed."""

    turn_id: str
    calls: int
    """Tools that were called."""
    records: list[RecordChange]


class Scored(BaseModel):
    """How the task of an episode that is over was done."""

    reward: float
    database: bool
    outputs: dict[str, bool]
    """What the user had to be told, and whether they were."""
    missing: list[RecordChange]
    """What differs from the ground truth: `before` is what is expected."""


class ThreadWorld(BaseModel):
    """The database beside a thread."""

    env: str
    task: int
    instruction: str
    """What the user of the task wants."""
    turns: list[TurnChanges]
    records: list[RecordChange]
    """All changes since the beginning."""
    truncated: bool = False
    """More records changed than are listed."""
    over: bool
    scored: Scored | None = None
    tools: list[dict[str, Any]]
    """The schemas of the tools that a person who plays the agent can call."""


@dataclass(frozen=True)
class Place:
    """The domain and the task of a thread."""

    domain: Domain
    task_index: int
    split: str


def place_of(store: Store, thread: ThreadRecord) -> Place:
    """Where the agent of a thread works; raises an InputError for workflows without a world."""
    scheme = thread.address.partition(":")[0]
    if scheme == EPISODE:
        origin = origin_of(store, thread.address)
        config = origin.run.config
        domain = _domain(config["env"], config.get("data"), _text(config.get("env_options")))
        return Place(domain, origin.point.task_index, origin.run.task_split)
    if scheme == AGENT:
        given: dict[str, Any] = dict(parse_qsl(thread.address.partition("?")[2]))
        given |= {k: v for k, v in (thread.parameters or {}).items() if v not in (None, "")}
        domain = _domain(str(given.get("env", "retail")), given.get("data"), "{}")
        return Place(domain, int(given.get("task", 0)), str(given.get("task_split", "test")))
    raise InputError(
        "This workflow has no world to show: only agents of the benchmark work in a database."
    )


@lru_cache(maxsize=8)
def _domain(env: str, data: Any, options: str) -> Domain:
    return load_domain(env, data, orjson.loads(options))


def _text(options: Any) -> str:
    return orjson.dumps(options or {}, option=orjson.OPT_SORT_KEYS).decode()


async def thread_world(place: Place, turns: Sequence[TurnRecord]) -> ThreadWorld:
    """The database after each turn: the recorded calls are made again on a fresh world."""
    domain = place.domain
    task = domain.task(place.task_index, place.split)
    user = _Lines(_user_calls(turns[0].content.said) if turns else ())
    environment = Environment(domain, user, split=place.split, max_steps=_MOST_STEPS)
    await environment.reset(place.task_index)
    fresh = domain.worlds(task)
    start = before = _State(fresh.changes(), fresh)
    user.look = lambda: _state(environment.worlds)
    told: list[TurnChanges] = []
    shown = _Shown()
    actions = {key: list(some) for key, some in groupby(_actions(turns), lambda one: one.turn.id)}
    for turn in turns:
        calls, user.found = 0, None
        for one in actions.get(turn.id, ()):
            if environment.over:
                break
            user.line, user.calls = one.reply, one.user_calls
            await environment.step(one.action)
            calls += one.is_call
        # What the user does before they speak belongs to the turn that they begin.
        after = user.found or _state(environment.worlds)
        places = _changed(before.changes, after.changes)
        records = list(shown.differences(places, before.worlds, after.worlds))
        if records or turn.id in actions:
            told.append(TurnChanges(turn_id=turn.id, calls=calls, records=records))
        before = after
    return ThreadWorld(
        env=domain.name,
        task=place.task_index,
        instruction=task.instruction,
        turns=told,
        records=list(
            shown.differences(
                _changed(start.changes, before.changes), start.worlds, environment.worlds
            )
        ),
        truncated=shown.truncated,
        over=environment.over,
        scored=_scored(environment),
        tools=[_tool(info) for info in domain.tool_infos],
    )


@dataclass(frozen=True)
class _State:
    """How the worlds were; later changes leave it alone."""

    changes: Changes
    worlds: Worlds


def _state(worlds: Worlds) -> _State:
    changes = worlds.changes()
    return _State(changes, _copies(worlds, changes))


@dataclass(frozen=True)
class _Taken:
    """An action in a turn; the reply is what the user said to it, if it talks to the user."""

    turn: TurnRecord
    action: Action
    reply: str
    is_call: bool
    user_calls: tuple[Action, ...] = ()
    """What the user did before the reply."""


class _Lines:
    """A user who does and says what comes next in the thread."""

    def __init__(self, calls: tuple[Action, ...] = ()) -> None:
        self.line = ""
        self.calls = calls
        self.look: Callable[[], _State] | None = None
        self.found: _State | None = None
        """How the world was before the user last did something."""
        self._tools: UserTools | None = None

    def equip(self, tools: UserTools) -> None:
        self._tools = tools

    async def open(self, instruction: str) -> str:
        await self._act()
        return instruction

    async def reply(self, content: str) -> str:
        await self._act()
        return self.line

    async def _act(self) -> None:
        if self.calls and self.look is not None:
            self.found = self.look()
        for call in self.calls if self._tools is not None else ():
            assert self._tools is not None
            await self._tools.call(call.name, call.kwargs)


def _user_calls(said: Sequence[dict[str, Any]]) -> tuple[Action, ...]:
    return tuple(
        Action(str(call.get("name")), as_dict(call.get("input")), "user")
        for message in said
        if message.get("role") == "user"
        for call in called_tools(message)
    )


def _actions(turns: Sequence[TurnRecord]) -> Iterator[_Taken]:
    for number, turn in enumerate(turns):
        following = turns[number + 1].content.said if number + 1 < len(turns) else []
        users = [one for one in following if one.get("role") == "user" and not called_tools(one)]
        reply = "\n\n".join(text_of(one.get("content")) for one in users)
        answers = [one for one in turn.content.replies if one.get("role") == "assistant"]
        told = {call["id"] for message in answers for call in called_tools(message)}
        for call in turn.content.tool_calls:
            if call.get("id") not in told:
                yield _call(turn, call)
        for message in answers:
            calls = called_tools(message)
            for call in calls:
                yield _call(turn, call)
            text = text_of(message.get("content"))
            if text and not calls:
                done = _user_calls(following)
                yield _Taken(turn, respond(text), reply, is_call=False, user_calls=done)


def _call(turn: TurnRecord, call: dict[str, Any]) -> _Taken:
    return _Taken(turn, Action(str(call.get("name")), as_dict(call.get("input"))), "", is_call=True)


class _Shown:
    """Changes as they are shown; beyond the most, they are left out."""

    def __init__(self) -> None:
        self.truncated = False

    def differences(
        self, places: Sequence[RecordKey] | Changes, before: Worlds, after: Worlds
    ) -> Iterator[RecordChange]:
        for number, place in enumerate(places):
            if number >= _MOST_RECORDS:
                self.truncated = True
                return
            yield _record_change(place, before.record(place), after.record(place))


def _record_change(place: RecordKey, before: Any, after: Any) -> RecordChange:
    return RecordChange(
        table=place.table,
        record=place.id,
        kind="added" if before is None else "deleted" if after is None else "changed",
        fields=[
            FieldChange(
                path=one.path,
                before=_value(one.expected),
                after=_value(one.actual),
                absent=_absent(one.expected, one.actual),
            )
            for one in record_differences(place, before, after)
        ],
    )


def _absent(before: Any, after: Any) -> Literal["before", "after"] | None:
    return "before" if before is ABSENT else "after" if after is ABSENT else None


def _value(value: Any) -> Any:
    if value is ABSENT:
        return None
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_TEXT else value[:_LONGEST_TEXT] + "…"
    shown = plain(value, DEEPEST)
    text = orjson.dumps(shown).decode()
    return shown if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + "…"


def _changed(before: Changes, after: Changes) -> list[RecordKey]:
    places = dict.fromkeys([*before, *after])
    return [place for place in places if before.get(place, place) != after.get(place, place)]


def _copies(worlds: Worlds, changes: Changes) -> Worlds:
    """The worlds as they are now, which later changes leave alone."""
    own = {place: text for place, text in changes.items() if not _is_users(worlds, place)}
    agent = _copy(worlds.agent, own)
    if worlds.user is None or worlds.user is worlds.agent:
        return Worlds(agent, None if worlds.user is None else agent)
    users = {
        RecordKey(place.table.removeprefix(USER_TABLES), place.id): text
        for place, text in changes.items()
        if place not in own
    }
    return Worlds(agent, _copy(worlds.user, users))


def _is_users(worlds: Worlds, place: RecordKey) -> bool:
    apart = worlds.user is not None and worlds.user is not worlds.agent
    return apart and place.table.startswith(USER_TABLES)


def _copy(world: World, changes: Changes) -> World:
    """The world as it is now, which later changes leave alone."""
    copy = World(world.base)
    for place, text in changes.items():
        record = world.record(place)
        if text is None or record is None:
            del copy[place.table][place.id]
        else:
            copy[place.table][place.id] = orjson.loads(orjson.dumps(record))
    return copy


def _scored(environment: Environment) -> Scored | None:
    reward = environment.reward
    if reward is None:
        return None
    expected, actual = reward.truth.changes, reward.worlds.changes()
    places = _changed(expected, actual)
    shown = _Shown()
    return Scored(
        reward=reward.value,
        database=reward.database,
        outputs=reward.outputs,
        missing=list(shown.differences(places, reward.truth.worlds, reward.worlds)),
    )


def _tool(info: ToolInfo) -> dict[str, Any]:
    return plain(dict(info), DEEPEST)


__all__ = ["Place", "ThreadWorld", "place_of", "thread_world"]
