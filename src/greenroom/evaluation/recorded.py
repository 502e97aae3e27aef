"""Recorded outputs: they are scored as if the workflow had answered, and nothing is called."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from greenroom.errors import InputError, UnknownName
from greenroom.evaluation.config import EvaluationConfig
from greenroom.store import (
    CellKey,
    ColumnRecord,
    EvaluationRecord,
    Store,
    TestSetVersion,
    Usage,
    decoded,
)
from greenroom.workflows.calls import (
    SERVER_ERROR,
    Answer,
    Call,
    CallError,
    Event,
    Profile,
    Schemas,
)

MEASURES = ("seconds", "cost")
"""Columns that say what a recorded output took."""

_NOT_THERE = 404
_ENCODED = ("chat", "message", "json")


@dataclass(frozen=True)
class Recording:
    """An answer from before, and the whole conversation if a simulated user talked."""

    answer: Answer
    conversation: list[dict[str, Any]] | None = None


Recordings = Callable[[Mapping[str, Any], CellKey], Recording]
"""Finds the recording of a row and repeat."""


@dataclass(frozen=True)
class RecordedTarget:
    """The workflow that recorded outputs are of. It is named, and cannot be called."""

    profile: Profile

    async def call(self, call: Call) -> Answer:
        raise CallError(f"'{self.profile.name}' is not called: its outputs are recorded.")

    async def stream(self, call: Call) -> AsyncGenerator[Event]:
        yield Event(kind="end", data=await self.call(call))

    async def close(self) -> None:
        """Nothing is open."""


def open_recordings(
    store: Store, config: EvaluationConfig, version: TestSetVersion, profile: Profile
) -> tuple[RecordedTarget, Recordings]:
    """What `outputs` names: a column of the test set, or else an earlier evaluation of it.

    They are read as chat if they are messages, or if the configuration says so.
    """
    name = str(config.outputs)
    column = next((one for one in version.columns if one.name == name), None)
    if column is not None:
        find, is_chat = _in_column(column), column.kind in ("chat", "message")
    else:
        earlier = _evaluation_of(store, name, version)
        find, is_chat = _of_evaluation(store, earlier), earlier.is_chat
    if config.treat_as is not None:
        is_chat = config.treat_as == "chat"
    return RecordedTarget(replace(profile, is_chat=is_chat, schemas=Schemas())), find


def _evaluation_of(store: Store, name: str, version: TestSetVersion) -> EvaluationRecord:
    columns = [column.name for column in version.columns]
    try:
        found = store.evaluations.find(name)
    except UnknownName:
        raise UnknownName("column or evaluation", name, columns) from None
    if (found.test_set_id, found.test_set_version) != (version.test_set_id, version.version):
        raise InputError(
            f"'{found.name}' has outputs for {found.test_set_name}@{found.test_set_version}, not "
            f"for {version}: name that test set."
        )
    return found


def _in_column(column: ColumnRecord) -> Recordings:
    """The recordings in a column of the test set; an InputError names a row without one."""

    def find(row: Mapping[str, Any], key: CellKey) -> Recording:
        value = row.get(column.name)
        if value is None or value == "":
            raise InputError(f"Row {key[0] + 1} has no recorded output in {column.name}.")
        outputs = decoded(value) if column.kind in _ENCODED else value
        told = [name for name in MEASURES if row.get(name) not in (None, "")]
        measured = {name: _number(row[name], name, key) for name in told}
        seconds, cost = measured.get("seconds", 0.0), measured.get("cost")
        return Recording(Answer(outputs=outputs, seconds=seconds, cost=cost))

    return find


def _of_evaluation(store: Store, evaluation: EvaluationRecord) -> Recordings:
    """The recordings that an earlier evaluation of the same test set has kept."""

    def find(row: Mapping[str, Any], key: CellKey) -> Recording:
        kept = store.evaluations.result(evaluation.id, key)
        if kept is None or kept.outcome != "answered":
            crashed = kept is not None and kept.outcome == "crashed"
            why = (kept.error if kept is not None else None) or "it was not called"
            status = SERVER_ERROR if crashed else _NOT_THERE
            raise CallError(f"'{evaluation.name}' has no answer here: {why}", status=status)
        used = kept.usage.get("agent", Usage())
        answer = Answer(
            outputs=kept.outputs,
            tool_calls=kept.tool_calls,
            trace_id=kept.trace_id,
            seconds=kept.seconds,
            prompt_tokens=used.prompt_tokens,
            completion_tokens=used.completion_tokens,
            cost=used.cost,
        )
        return Recording(answer, kept.conversation)

    return find


def _number(value: Any, name: str, key: CellKey) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not 0 <= number < math.inf:
        raise InputError(f"Row {key[0] + 1}: {name} is a number of 0 or more, not {value!r}.")
    return number
