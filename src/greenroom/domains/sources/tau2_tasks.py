"""Convert tasks of tau2-bench.

Greenroom scores actions and outputs. The other criteria of tau2 stay with the task by kind, so that
they can be counted and shown.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, cast

import orjson
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from greenroom.domains.tasks import Action, Task, validated

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from greenroom.domains.world import Record


class _Action(BaseModel):
    # The other fields of an action do not affect the final database.
    model_config = ConfigDict(extra="ignore")

    name: str
    arguments: dict[str, Any] = Field(default_factory=dict[str, Any])


class _Instructions(BaseModel):
    model_config = ConfigDict(extra="ignore")

    known_info: str | None = None
    unknown_info: str | None = None
    reason_for_call: str | None = None
    task_instructions: str | None = None


class _Scenario(BaseModel):
    model_config = ConfigDict(extra="ignore")

    persona: str | None = None
    instructions: _Instructions | str | None = None


class _Criteria(BaseModel):
    model_config = ConfigDict(extra="allow", coerce_numbers_to_str=True)

    actions: list[_Action] | None = None
    communicate_info: list[str] | None = None


class _Record(BaseModel):
    model_config = ConfigDict(extra="allow", coerce_numbers_to_str=True)

    id: str
    description: Any = None
    """A note by the task's author; not used."""
    user_scenario: _Scenario = Field(default_factory=_Scenario)
    evaluation_criteria: _Criteria | None = None


_records = TypeAdapter(list[_Record])


def parse_tau2_tasks(records: Any, users: Mapping[str, Record], source: str) -> tuple[Task, ...]:
    """Parse the content of a tau2 task file; `users` is the domain's table of users."""
    return tuple(_task(record, users) for record in validated(_records, records, source))


def _task(record: _Record, users: Mapping[str, Record]) -> Task:
    criteria = record.evaluation_criteria or _Criteria()
    actions = tuple(Action(action.name, action.arguments) for action in criteria.actions or ())
    return Task(
        instruction=_instruction(record.user_scenario),
        actions=actions,
        outputs=tuple(criteria.communicate_info or ()),
        user_id=_user_id(actions, users),
        id=record.id,
        unscored=_unscored(record.model_extra, criteria.model_extra),
    )


def _unscored(*places: Mapping[str, Any] | None) -> dict[str, list[str]]:
    kinds: dict[str, list[str]] = {}
    for kind, value in chain.from_iterable((place or {}).items() for place in places):
        if value is not None and value not in ("", [], {}):
            kinds.setdefault(kind, []).extend(_texts(value))
    return kinds


def _instruction(scenario: _Scenario) -> str:
    told = scenario.instructions
    if isinstance(told, str):
        told = _Instructions(task_instructions=told)
    told = told or _Instructions()
    parts = {
        "Who you are": scenario.persona,
        "What you know": told.known_info,
        "What you do not know": told.unknown_info,
        "What you want": told.reason_for_call,
        "How you go about it": told.task_instructions,
    }
    # Some fields hold only a full stop.
    return "\n\n".join(
        f"{label}: {text.strip()}" for label, text in parts.items() if text and text.strip(" .\n")
    )


def _user_id(actions: Sequence[Action], users: Mapping[str, Record]) -> str:
    for action in actions:
        if isinstance(user_id := action.kwargs.get("user_id"), str):
            return user_id
    for action in actions:
        for user_id, user in users.items():
            if _is_found(user, action):
                return user_id
    return ""


def _is_found(user: Record, action: Action) -> bool:
    match action.name:
        case "find_user_id_by_email":
            wanted = (action.kwargs.get("email"),)
            values = (user.get("email"),)
        case "find_user_id_by_name_zip":
            wanted = tuple(action.kwargs.get(key) for key in ("first_name", "last_name", "zip"))
            name, address = _part(user, "name"), _part(user, "address")
            values = (name.get("first_name"), name.get("last_name"), address.get("zip"))
        case _:
            return False
    # The tools that find users ignore case, too.
    return None not in wanted and _lowered(wanted) == _lowered(values)


def _part(record: Record, key: str) -> Mapping[str, Any]:
    value = record.get(key)
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _lowered(values: Sequence[Any]) -> list[str]:
    return [str(value).lower() for value in values]


def _texts(value: Any) -> list[str]:
    items = cast("list[Any]", value) if isinstance(value, list) else [value]
    return [item if isinstance(item, str) else orjson.dumps(item).decode() for item in items]


__all__ = ["parse_tau2_tasks"]
