"""Episodes and rows as samples of Inspect's logs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import count
from typing import Any, Final, cast
from uuid import NAMESPACE_URL, uuid5

from greenroom.analysis import diagnose
from greenroom.messages import text_of
from greenroom.reports.recorded_trajectories import OWN, calls_and_words, is_said, own_facts
from greenroom.reports.report import EvaluatedRow
from greenroom.store.outcomes import Outcome
from greenroom.store.records import CellRecord, EpisodeRecord, RunRecord, Usage
from greenroom.store.trajectory_records import ActionRecord, StepRecord, UserCallRecord
from greenroom.util.json_values import as_dict, as_list
from greenroom.util.raw_json import plain

REWARD: Final = "reward"
"""The name of the score of an episode."""
_LIMITS: Final[Mapping[Outcome, str]] = {
    "max_steps": "message",
    "max_time": "time",
    "context_window": "context",
}
_SHOWN: Final = 500
"""Characters of a text that stand in a list."""
_PURSES: Final = {"agent": "model", "user": "user_model", "judge": "judge_model"}


def _sample(
    record: CellRecord, unique: str, models: Mapping[str, str], **fields: Any
) -> dict[str, Any]:
    """What samples of runs and evaluations have in common, and the rest."""
    ended = record.started_at + timedelta(seconds=record.seconds)
    found: dict[str, Any] = {
        "choices": None,
        "output": {"model": models.get("agent", ""), "choices": []},
        "store": {},
        "events": [],
        "attachments": {},
        "model_usage": usage_by_model(record.usage, models),
        "role_usage": {purse: usage_of(one) for purse, one in record.usage.items()},
        "started_at": stamp(record.started_at),
        "completed_at": stamp(ended),
        "total_time": record.seconds,
        "uuid": str(uuid5(NAMESPACE_URL, unique)),
        **fields,
    }
    if not record.has_result:
        told = record.error or "unknown"
        found["error"] = {"message": told, "traceback": told, "traceback_ansi": told}
    return found


def summary(sample: Mapping[str, Any]) -> dict[str, Any]:
    """What the viewer lists: a sample without what it is long by."""
    same = ("id", "epoch", "target", "started_at", "completed_at", "total_time", "uuid")
    usage = ("model_usage", "role_usage")
    error, limit = sample.get("error"), sample.get("limit")
    scores: Mapping[str, Any] = sample["scores"] or {}
    return {
        **{name: sample[name] for name in (*same, *usage)},
        "input": str(sample["input"])[:_SHOWN],
        "scores": {
            name: {"value": score["value"], "answer": (score["answer"] or "")[:_SHOWN] or None}
            for name, score in scores.items()
        },
        "error": error and error["message"],
        "limit": limit and limit["type"],
        "completed": error is None,
        "message_count": len(sample["messages"]),
        "metadata": {},
    }


def episode_sample(run: RunRecord, episode: EpisodeRecord) -> dict[str, Any]:
    limit = _LIMITS.get(episode.outcome)
    last = next(filter(is_said, reversed(episode.steps)), None)
    return _sample(
        episode,
        f"{run.id}/{episode.task_index}/{episode.trial}",
        models_of(run),
        id=episode.task.id or episode.task_index,
        epoch=episode.trial + 1,
        input=episode.task.instruction,
        target=[_as_text(action) for action in episode.task.actions],
        messages=list(_messages(run, episode)),
        scores={REWARD: _reward(episode, last and last.action.kwargs.get("content"))}
        if episode.reward is not None
        else None,
        limit=limit and {"type": limit, "limit": float(episode.step_count)},
        metadata={OWN: own_facts(run, episode), "tags": episode.task.tags},
    )


def _reward(episode: EpisodeRecord, answer: Any) -> dict[str, Any]:
    found = diagnose(episode)
    details = episode.details
    return {
        "value": episode.reward,
        "answer": None if answer is None else str(answer),
        "explanation": None if found is None else found.explanation,
        "metadata": {
            "outcome": episode.outcome,
            "kind": None if found is None else found.kind,
            "parts": None if details is None else details.parts,
        },
    }


def _as_text(action: ActionRecord) -> str:
    return f"{action.name}({json.dumps(plain(action.kwargs), ensure_ascii=False)})"


def _messages(run: RunRecord, episode: EpisodeRecord) -> Iterator[dict[str, Any]]:
    if run.policy:
        yield {"role": "system", "content": run.policy}
    # An opening without words is kept: what is said next would be taken for the opening.
    if episode.opening or episode.opening_calls or episode.steps:
        yield _user(episode.opening, episode.opening_calls)
    numbers = count(1)
    for one in calls_and_words(episode.steps):
        if isinstance(one, StepRecord):
            yield {"role": "assistant", "content": one.action.kwargs["content"]}
            yield _user(one.observation, one.user_calls)
        else:
            yield from _called([(f"call_{next(numbers)}", step) for step in one])


def _called(made: Sequence[tuple[str, StepRecord]]) -> Iterator[dict[str, Any]]:
    """Calls that were made at once, by their ids, and their results."""
    calls = [
        {"id": call_id, "function": step.action.name, "arguments": step.action.kwargs}
        for call_id, step in made
    ]
    yield {"role": "assistant", "content": made[0][1].action.aside, "tool_calls": calls}
    for call_id, step in made:
        failed = {"type": "unknown", "message": step.invalid or step.observation}
        yield {
            "role": "tool",
            "content": step.observation,
            "tool_call_id": call_id,
            "function": step.action.name,
            "error": failed if step.failed or step.invalid else None,
        }


def _user(text: str, calls: Iterable[UserCallRecord]) -> dict[str, Any]:
    made = [call.model_dump(mode="json") for call in calls]
    # Inspect's users have no tools.
    return {"role": "user", "content": text, **({"metadata": {"calls": made}} if made else {})}


def row_sample(row: EvaluatedRow) -> dict[str, Any]:
    conversation = row.conversation or _as_messages(row.outputs)
    scores = {
        alias: {
            "value": score.score,
            "answer": None if score.compared is None else _text(score.compared),
            "explanation": score.reason or None,
            "metadata": {"passed": score.passed, "against": score.against},
        }
        for alias, score in row.scores.items()
        if score.score is not None
    }
    return _sample(
        row,
        f"{row.started_at.isoformat()}/{row.row}/{row.repeat}",
        {},
        id=row.row,
        epoch=row.repeat,
        input=_text(row.inputs),
        target=next(
            (_text(score.against) for score in row.scores.values() if score.against is not None), ""
        ),
        messages=[_chat_message(message) for message in conversation],
        scores=scores,
        metadata={OWN: {"outputs": row.outputs, "outcome": row.outcome, "error": row.error}},
    )


def _as_messages(outputs: Any) -> list[dict[str, Any]]:
    """An output as what an assistant said."""
    if outputs is None:
        return []
    found = cast("list[Any]", outputs) if isinstance(outputs, list) else [outputs]
    if found and all(as_dict(one).get("role") for one in found):
        return cast("list[dict[str, Any]]", found)
    return [{"role": "assistant", "content": _text(outputs)}]


def _chat_message(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message of a chat completion in Inspect's form."""
    role = str(message.get("role"))
    role = {"developer": "system", "function": "tool"}.get(role, role)
    made = [as_dict(call) for call in as_list(message.get("tool_calls"))]
    known = role if role in ("system", "user", "assistant", "tool") else "user"
    found: dict[str, Any] = {"role": known, "content": text_of(message.get("content"))}
    if known == "assistant" and made:
        found["tool_calls"] = [
            {
                "id": str(call.get("id") or number),
                "function": str(as_dict(call.get("function")).get("name")),
                "arguments": _arguments(as_dict(call.get("function")).get("arguments")),
            }
            for number, call in enumerate(made)
        ]
    if known == "tool":
        found["tool_call_id"] = message.get("tool_call_id")
        found["function"] = message.get("name")
    return found


def _arguments(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {"arguments": value}
    return as_dict(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False)


def models_of(run: RunRecord) -> dict[str, str]:
    """The model of each purse, as far as it is known."""
    named = {purse: run.config.get(field) for purse, field in _PURSES.items()}
    return {purse: str(model) for purse, model in named.items() if model}


def usage_by_model(usage: Mapping[str, Usage], models: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, list[Usage]] = {}
    for purse, one in usage.items():
        if purse in models:
            found.setdefault(models[purse], []).append(one)
    return {model: usage_of(Usage.total(parts)) for model, parts in found.items()}


def usage_of(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.prompt_tokens,
        "output_tokens": usage.completion_tokens,
        "total_tokens": usage.tokens,
        "input_tokens_cache_read": usage.cached_prompt_tokens,
        # An unknown price is null, never 0.
        "total_cost": usage.cost,
    }


def stamp(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds")
