"""Rows for test sets from what people see: turns, episodes, rows of evaluations."""

from __future__ import annotations

from typing import Any

from greenroom.errors import InputError
from greenroom.evaluation.test_sets import (
    column_roles,
    kept_row,
    known_columns,
    spoken_messages,
    spoken_row,
)
from greenroom.playground.conversation import messages_so_far
from greenroom.playground.testset_models import (
    CellsSource,
    EpisodeSource,
    ResultSource,
    Source,
    TurnSource,
    ValuesSource,
)
from greenroom.store import Store
from greenroom.store.thread_records import Missing
from greenroom.trajectories import SpokenStep
from greenroom.workflows.calls import MESSAGES


def source_row(store: Store, test_set: str, source: Source) -> dict[str, Any]:
    """The row that a source makes in a test set, with the raw output as the expected one."""
    columns = known_columns(store, test_set)
    match source:
        case CellsSource():
            return source.cells
        case ValuesSource():
            return kept_row(source.inputs, source.outputs, columns)
        case TurnSource():
            return _turn_row(store, source, columns)
        case EpisodeSource():
            return _episode_row(store, source, columns)
        case ResultSource():
            return _result_row(store, source, columns)


def source_note(store: Store, source: Source) -> str:
    """Where a row comes from, in words."""
    match source:
        case EpisodeSource():
            place = f"task {source.task}, trial {source.trial}"
            return f"from {store.runs.find(source.run).name}, {place}"
        case ResultSource():
            return f"from {store.evaluations.find(source.evaluation).name}, row {source.row + 1}"
        case TurnSource():
            return "from a conversation"
        case ValuesSource() | CellsSource():
            return "1 row added"


def _turn_row(store: Store, source: TurnSource, columns: list[str]) -> dict[str, Any]:
    """What was sent in a turn and what came back; an answer that a person edited is what counts."""
    turns = store.threads.find(source.thread_id).history.turns
    if source.turn_id not in turns:
        raise Missing("turn", source.turn_id)
    place = turns.index(source.turn_id)
    found = store.turns.listed(turns[: place + 1], whole=True)
    turn = found[source.turn_id]
    if turn.status not in ("done", "stopped"):
        raise InputError("This turn has no answer to keep: run it first.")
    content = turn.content
    inputs = dict(content.inputs or {})
    if content.said or turn.treated_as == "chat":
        before = messages_so_far(found[key] for key in turns[:place] if key in found)
        inputs[MESSAGES] = [*before, *content.said]
    if turn.sent and not turn.edited and turn.status == "done":
        return kept_row(inputs, content.outputs, columns)
    replies = content.replies
    return kept_row(inputs, replies[0] if len(replies) == 1 else replies, columns)


def _episode_row(store: Store, source: EpisodeSource, columns: list[str]) -> dict[str, Any]:
    run = store.runs.find(source.run)
    episode = store.runs.result(run.id, (source.task, source.trial))
    if episode is None:
        raise InputError(
            f"'{run.name}' has no episode of task {source.task}, trial {source.trial}."
        )
    # Rows are what the agent is given: what the user did on their side is not for it to see.
    steps = [
        SpokenStep(step.action.name, step.action.kwargs, step.observation) for step in episode.steps
    ]
    return spoken_row(spoken_messages(episode.opening, steps), columns, source.turn)


def _result_row(store: Store, source: ResultSource, columns: list[str]) -> dict[str, Any]:
    evaluation = store.evaluations.find(source.evaluation)
    result = store.evaluations.result(evaluation.id, (source.row, source.repeat))
    if result is None or not result.has_result:
        raise InputError(f"Row {source.row + 1} of '{evaluation.name}' has no answer to keep.")
    if result.conversation is not None:
        return spoken_row(result.conversation, columns)
    version = store.test_sets.find(evaluation.test_set_id, evaluation.test_set_version)
    row = next(store.test_sets.rows(version, start=source.row, limit=1))
    roles = column_roles([column.name for column in version.columns])
    inputs = {name: row[name] for name in roles.inputs if name in row}
    return kept_row(inputs, result.outputs, columns)
