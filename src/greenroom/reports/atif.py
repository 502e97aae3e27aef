"""Episodes as trajectories in ATIF, the Agent Trajectory Interchange Format, and back.

A file holds a trajectory, or one a line. What ATIF has no field for stands under `extra.greenroom`:
it is what grading the trajectory again takes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

from greenroom.messages import text_of
from greenroom.reports.recorded_trajectories import (
    RecordedTrajectory,
    calls_and_words,
    own_facts,
    read_facts,
    user_messages,
)
from greenroom.store.records import EpisodeRecord, RunRecord, Usage
from greenroom.store.trajectory_records import StepRecord, UserCallRecord
from greenroom.util.json_values import as_dict, as_list

VERSION: Final = "ATIF-v1.7"
FAMILY: Final = "ATIF-v1."
"""All versions that begin so are read."""


def atif_trajectory(run: RunRecord, episode: EpisodeRecord) -> dict[str, Any]:
    """An episode as a trajectory."""
    usage = episode.usage.get("agent")
    steps = list(_steps(run, episode))
    return {
        "schema_version": VERSION,
        "session_id": run.id,
        "trajectory_id": str(
            uuid5(NAMESPACE_URL, f"{run.id}/{episode.task_index}/{episode.trial}")
        ),
        "agent": _present(
            name=run.agent_strategy,
            version=run.greenroom_version,
            model_name=run.config.get("model"),
        ),
        "steps": [{"step_id": number, **step} for number, step in enumerate(steps, start=1)],
        "final_metrics": _metrics(usage, len(steps)),
        "extra": {"greenroom": own_facts(run, episode)},
    }


def _steps(run: RunRecord, episode: EpisodeRecord) -> Iterator[dict[str, Any]]:
    if run.policy:
        yield {"source": "system", "message": run.policy}
    # An opening without words is kept: what is said next would be taken for the opening.
    if episode.opening or episode.opening_calls or episode.steps:
        yield _user(episode.opening, episode.opening_calls)
    numbers = count(1)
    for one in calls_and_words(episode.steps):
        if isinstance(one, StepRecord):
            yield {"source": "agent", "message": one.action.kwargs["content"]}
            yield _user(one.observation, one.user_calls)
        else:
            yield _called([(f"call_{next(numbers)}", step) for step in one])


def _user(message: str, calls: Iterable[UserCallRecord]) -> dict[str, Any]:
    made = [call.model_dump(mode="json") for call in calls]
    # ATIF knows tools of the agent only.
    return _present(source="user", message=message, extra={"calls": made} if made else None)


def _called(made: Sequence[tuple[str, StepRecord]]) -> dict[str, Any]:
    """Calls that were made at once, by their ids."""
    failed = [call_id for call_id, step in made if step.failed or step.invalid]
    return _present(
        source="agent",
        message=made[0][1].action.aside,
        tool_calls=[
            {
                "tool_call_id": call_id,
                "function_name": step.action.name,
                "arguments": step.action.kwargs,
            }
            for call_id, step in made
        ],
        observation={
            "results": [
                {"source_call_id": call_id, "content": step.observation} for call_id, step in made
            ]
        },
        extra={"failed": failed} if failed else None,
    )


def _metrics(usage: Usage | None, steps: int) -> dict[str, Any]:
    counted = {} if usage is None else _tokens(usage)
    return {**counted, "total_steps": steps}


def _tokens(usage: Usage) -> dict[str, Any]:
    return _present(
        total_prompt_tokens=usage.prompt_tokens + usage.cached_prompt_tokens,
        total_completion_tokens=usage.completion_tokens + usage.cached_completion_tokens,
        # An unknown price is absent, never 0.
        total_cost_usd=usage.cost,
    )


def _present(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


# Reading


def read_atif(trajectory: Mapping[str, Any], place: str) -> RecordedTrajectory:
    """A trajectory of anybody; `place` says where it stands."""
    messages: list[dict[str, Any]] = []
    for step in map(as_dict, as_list(trajectory.get("steps"))):
        match step.get("source"):
            case "user":
                messages += user_messages(text_of(step.get("message")), step.get("extra"), place)
            case "agent":
                messages += _agent_messages(step)
            case _:
                pass  # the system's words are not a part of the conversation
    extra = as_dict(trajectory.get("extra"))
    facts = read_facts(extra, task=extra.get("task_id"), place=place)
    return RecordedTrajectory(facts, messages)


def _agent_messages(step: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    calls = [as_dict(call) for call in as_list(step.get("tool_calls"))]
    text = text_of(step.get("message"))
    if not calls:
        yield {"role": "assistant", "content": text}
        return
    made = [(str(one.get("tool_call_id")), str(one.get("function_name")), one) for one in calls]
    yield {
        "role": "assistant",
        "content": text or None,
        "tool_calls": [
            {
                "id": call_id,
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(call.get("arguments") or {})},
            }
            for call_id, name, call in made
        ],
    }
    results = [as_dict(one) for one in as_list(as_dict(step.get("observation")).get("results"))]
    answers: dict[str, str] = {}
    for number, one in enumerate(results):
        # A result may leave out which call it is of.
        known = made[number][0] if number < len(made) else None
        answers[str(one.get("source_call_id", known))] = text_of(one.get("content"))
    for call_id, name, _ in made:
        if call_id in answers:
            answer = {"role": "tool", "tool_call_id": call_id, "name": name}
            yield {**answer, "content": answers[call_id]}
