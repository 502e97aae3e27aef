"""What a judge is shown of an episode: compact, and without the secrets of the environment."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from greenroom.analysis.figures import Diagnosis
from greenroom.errors import redacted
from greenroom.store.records import EpisodeRecord
from greenroom.store.trajectory_records import ActionRecord, StepRecord, UserCallRecord
from greenroom.trajectories import RESPOND


@dataclass(frozen=True)
class Detail:
    """How much is shown: characters of each kind of text, and the number of steps and lines."""

    policy: int
    said: int
    observation: int
    steps: int
    differences: int


DETAILS = (
    Detail(policy=12_000, said=4_000, observation=600, steps=200, differences=30),
    Detail(policy=3_000, said=800, observation=200, steps=40, differences=12),
    Detail(policy=0, said=240, observation=80, steps=14, differences=5),
)
"""From the most to the least; a judge whose context is too small for one is shown the next."""


def evidence(episode: EpisodeRecord, diagnosis: Diagnosis, *, policy: str, detail: Detail) -> str:
    """An episode as a judge reads it, in sections."""
    return in_sections(sections_of(episode, diagnosis, policy=policy, detail=detail))


def sections_of(
    episode: EpisodeRecord, diagnosis: Diagnosis, *, policy: str, detail: Detail
) -> list[tuple[str, str]]:
    """The sections of what a judge is shown, by name."""
    task = episode.task
    return [
        ("policy", shortened(policy, detail.policy)),
        ("user_instruction", task.instruction),
        ("ground_truth_actions", "\n".join(map(_due, task.actions)) or "(none: nothing to do)"),
        ("required_outputs", "\n".join(task.outputs) or "(none)"),
        ("conversation", "\n".join(_conversation(episode, detail))),
        ("automatic_check", "\n".join(_findings(episode, diagnosis, detail))),
    ]


def in_sections(sections: Iterable[tuple[str, str]]) -> str:
    """Named texts as a judge reads them; what is empty is left out."""
    text = "\n\n".join(f"<{name}>\n{text}\n</{name}>" for name, text in sections if text)
    return redacted(text)


def shortened(text: str, limit: int) -> str:
    """The beginning and the end of a text, if it is longer than the limit."""
    if len(text) <= limit:
        return text
    if limit <= 0:
        return ""
    end = limit // 4
    left_out = len(text) - limit
    return f"{text[: limit - end]} [... {left_out} characters ...] {text[len(text) - end :]}"


def _conversation(episode: EpisodeRecord, detail: Detail) -> Iterator[str]:
    for call in episode.opening_calls:
        yield from _user_call(call, detail)
    if episode.opening:
        yield f"USER: {shortened(episode.opening, detail.said)}"
    steps = episode.steps
    first = detail.steps // 3
    last = detail.steps - first
    cut = len(steps) > detail.steps
    for number, step in enumerate(steps, start=1):
        if cut and number == first + 1:
            yield f"[... {len(steps) - detail.steps} steps ...]"
        if not cut or number <= first or number > len(steps) - last:
            yield from _step(number, step, detail)


def _step(number: int, step: StepRecord, detail: Detail) -> Iterator[str]:
    content: Any = step.action.kwargs.get("content")
    if step.action.name == RESPOND and isinstance(content, str):
        yield f"{number}. AGENT: {shortened(content, detail.said)}"
        for call in step.user_calls:
            yield from _user_call(call, detail)
        if step.observation:
            yield f"   USER: {shortened(step.observation, detail.said)}"
        return
    marks = " [changes the database]" if step.action.writes else ""
    marks += f" [not a valid call: {step.invalid}]" if step.invalid else ""
    yield f"{number}. AGENT CALLS {shortened(_call(step.action), detail.said)}{marks}"
    yield f"   RESULT: {shortened(step.observation, detail.observation)}"


def _user_call(call: UserCallRecord, detail: Detail) -> Iterator[str]:
    marks = " [changes the user's world]" if call.action.writes else ""
    yield f"   USER CALLS {shortened(_call(call.action), detail.said)}{marks}"
    yield f"   RESULT: {shortened(call.observation, detail.observation)}"


def _findings(episode: EpisodeRecord, diagnosis: Diagnosis, detail: Detail) -> Iterator[str]:
    yield f"How it ended: {episode.outcome.replace('_', ' ')}, reward {episode.reward}"
    yield f"Kind: {', '.join(kind.replace('_', ' ') for kind in diagnosis.kinds)}"
    yield f"Finding: {diagnosis.explanation}"
    if diagnosis.expected is not None:
        yield f"Expected: {_json(diagnosis.expected)}"
    if diagnosis.actual is not None:
        yield f"Done: {_json(diagnosis.actual)}"
    shown = diagnosis.differences[: detail.differences]
    for line in shown:
        yield f"Database: {shortened(line, 300)}"
    if len(diagnosis.differences) > len(shown):
        yield f"Database: {len(diagnosis.differences) - len(shown)} more differences"
    if episode.details is not None:
        for output, said in episode.details.outputs.items():
            yield f"Output {output!r}: {'said' if said else 'never said'}"


def _due(action: ActionRecord) -> str:
    return f"{_call(action)}{' by the user' if action.party == 'user' else ''}"


def _call(action: ActionRecord) -> str:
    return f"{action.name}({_json(action.kwargs)})"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
