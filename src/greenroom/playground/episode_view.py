"""An episode as people read it: what was said and done, beside what should have been done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from pydantic import BaseModel

from greenroom.analysis.aligned_steps import TruthAction, align_episode
from greenroom.analysis.alignment import Relation
from greenroom.analysis.arguments import ABSENT, ArgumentDifference
from greenroom.analysis.errors import diagnose
from greenroom.analysis.tools import refused
from greenroom.audit import Finding, findings_by_turn
from greenroom.reports.texts import kind_words, money
from greenroom.store import EpisodeRecord, JudgementRecord, StepRecord, Usage, UserCallRecord
from greenroom.store.records import known_cost
from greenroom.trajectories import RESPOND
from greenroom.util.raw_json import plain, raw_text

LONGEST_TEXT = 20_000
"""Characters of one text; a step has its whole texts at an address of its own."""
_ALL_TEXTS = 1_000_000
_SHORTEST = 500


class ShownItem(BaseModel):
    """Something that was said, or a call of a tool with what came back."""

    kind: Literal["said", "call"]
    step: int | None
    """The place of its step in the episode, from 0; null for the words that open it."""
    turn: int
    """From 1: a turn ends with the agent's reply to the user."""
    who: Literal["user", "agent"]
    text: str
    """What was said, or what the tool answered."""
    left_out: int = 0
    """So many characters of the text, or of the arguments, are left out here."""
    problem: str | None = None
    """Why the action was not a valid one, or what the user did wrong, if so."""
    tool: str = ""
    arguments: Any = None
    writes: bool = False
    """The tool is one that changes the database."""
    refused: bool = False
    extra: bool = False
    """It changed something that was not to be changed."""


class ArgumentDiffers(BaseModel):
    """An argument that differs; null on a side that has none."""

    name: str
    expected: Any
    actual: Any


class Truth(BaseModel):
    """An action of the ground truth, and the step that stands for it."""

    party: Literal["agent", "user"]
    """Who has to do it."""
    tool: str
    arguments: Any
    writes: bool
    step: int | None
    relation: Relation
    differs: list[ArgumentDiffers]
    refusal: str | None
    words: str
    """How the two stand to each other."""


class DatabaseDifference(BaseModel):
    """A field of a record that is not what the ground truth leaves behind."""

    path: str
    expected: Any
    actual: Any
    absent: Literal["expected", "actual"] | None


class RecordDifference(BaseModel):
    """A record of the database that is not as it should be."""

    table: str
    record: str
    fields: list[DatabaseDifference]


class HeardOutput(BaseModel):
    """Something that the user has to hear."""

    output: str
    heard: bool
    words: str


class Why(BaseModel):
    """Why an episode failed: the kind that weighs most, and a sentence."""

    kind: str
    label: str
    meaning: str
    sentence: str
    others: list[str]
    """Further kinds that apply, in words."""
    differences: list[str]


class Spent(BaseModel):
    """What one purse paid for."""

    purse: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: str
    cached_calls: int


class Judgement(BaseModel):
    """What a judge says of a failed episode."""

    judge: str
    author: str | None
    author_description: str | None
    kind: str | None
    kind_description: str | None
    error: str | None


def why_of(episode: EpisodeRecord) -> Why | None:
    """Why an episode failed; None for one that did not."""
    found = diagnose(episode)
    if found is None:
        return None
    label, meaning = kind_words(found.kind)
    return Why(
        kind=found.kind,
        label=label,
        meaning=meaning,
        sentence=found.explanation,
        others=[kind_words(kind)[0] for kind in found.kinds if kind != found.kind],
        differences=found.differences[:MOST_DIFFERENCES],
    )


MOST_DIFFERENCES = 200


def shown_items(episode: EpisodeRecord, findings: Sequence[Finding] = ()) -> list[ShownItem]:
    """What was said and done. A turn begins with the message of the user that it answers.

    Findings of the audit stand with the messages of the user that they are of.
    """
    if episode.pruned is not None:
        return []
    extra = set(align_episode(episode).extra)
    limit = _limit(episode)
    found: list[ShownItem] = []
    turn = episode.steps[0].turn if episode.steps else 1
    found += [_call(call, None, turn, limit) for call in episode.opening_calls]
    if episode.opening:
        found.append(_said("user", episode.opening, None, turn, limit))
    steps = episode.steps
    for place, step in enumerate(steps):
        following = steps[place + 1].turn if place + 1 < len(steps) else step.turn
        found += _step_items(place, step, following, limit, place in extra)
    return list(_with_findings(found, findings)) if findings else found


def _with_findings(items: list[ShownItem], findings: Sequence[Finding]) -> Iterator[ShownItem]:
    by_turn, number = findings_by_turn(findings), 0
    for item in items:
        if item.kind == "said" and item.who == "user":
            number += 1
            if number in by_turn:
                sentences = " ".join(one.sentence for one in by_turn[number])
                item = item.model_copy(update={"problem": sentences})
        yield item


def _limit(episode: EpisodeRecord) -> int:
    """How long a text may be, so that all of them together stay readable."""
    calls = [*episode.opening_calls, *(one for step in episode.steps for one in step.user_calls)]
    texts = sum(min(len(one.observation), LONGEST_TEXT) for one in [*episode.steps, *calls])
    if texts <= _ALL_TEXTS:
        return LONGEST_TEXT
    return max(_SHORTEST, _ALL_TEXTS // (len(episode.steps) + len(calls)))


def _step_items(
    place: int, step: StepRecord, following: int, limit: int, extra: bool
) -> Iterator[ShownItem]:
    content = step.action.kwargs.get("content")
    if step.action.name == RESPOND and isinstance(content, str):
        yield _said("agent", content, place, step.turn, limit, problem=step.invalid)
        for call in step.user_calls:
            yield _call(call, place, following, limit)
        if step.source == "user" and step.invalid is None:
            yield _said("user", step.observation, place, following, limit)
        return
    yield _call(step, place, step.turn, limit, extra=extra)


def _call(
    step: StepRecord | UserCallRecord,
    place: int | None,
    turn: int,
    limit: int,
    *,
    extra: bool = False,
) -> ShownItem:
    arguments, without = cut_value(step.action.kwargs, limit)
    return ShownItem(
        kind="call",
        step=place,
        turn=turn,
        who=step.action.party,
        text=step.observation[:limit],
        left_out=max(0, len(step.observation) - limit) + without,
        problem=step.invalid,
        tool=step.action.name,
        arguments=arguments,
        writes=step.action.writes,
        refused=refused(step),
        extra=extra,
    )


def _said(
    who: Literal["user", "agent"],
    text: str,
    step: int | None,
    turn: int,
    limit: int,
    *,
    problem: str | None = None,
) -> ShownItem:
    left_out = max(0, len(text) - limit)
    return ShownItem(
        kind="said",
        step=step,
        turn=turn,
        who=who,
        text=text[:limit],
        left_out=left_out,
        problem=problem,
    )


def cut_value(value: Any, limit: int = LONGEST_TEXT) -> tuple[Any, int]:
    """A value, or the beginning of its JSON if that is longer; and how much was left out."""
    clean = plain(value)
    text = raw_text(clean)
    return (clean, 0) if len(text) <= limit else (text[:limit], len(text) - limit)


def truth_of(episode: EpisodeRecord) -> list[Truth]:
    """The ground truth in its order, each action with the step that stands for it."""
    return [
        Truth(
            party=one.action.party,
            tool=one.action.name,
            arguments=cut_value(one.action.kwargs)[0],
            writes=one.action.writes,
            step=one.step,
            relation=one.relation,
            differs=argument_list(one.arguments),
            refusal=one.refusal,
            words=_truth_words(one) if episode.pruned is None else "what was done is pruned",
        )
        for one in align_episode(episode).truth
    ]


def _truth_words(one: TruthAction) -> str:
    if one.relation == "none":
        return "never called" if one.action.writes else "not looked up; a look changes nothing"
    words = {"same": "done so", "arguments": "other arguments", "tool": "another tool"}
    said = words.get(one.relation, "not done")
    return f"{said}, and refused" if one.refusal is not None else said


def argument_list(found: Sequence[ArgumentDifference]) -> list[ArgumentDiffers]:
    """Arguments that differ, as JSON."""
    return [
        ArgumentDiffers(
            name=one.name, expected=_argument(one.expected), actual=_argument(one.actual)
        )
        for one in found
    ]


def _argument(value: Any) -> Any:
    return None if value is ABSENT else cut_value(value)[0]


def differences_of(episode: EpisodeRecord) -> list[RecordDifference]:
    """What differs in the database, record by record."""
    details = episode.details
    if details is None or details.database:
        return []
    records: dict[tuple[str, str], list[DatabaseDifference]] = {}
    for one in details.differences[:MOST_DIFFERENCES]:
        field = DatabaseDifference(
            path=one.path,
            expected=cut_value(one.expected)[0],
            actual=cut_value(one.actual)[0],
            absent=one.absent,
        )
        records.setdefault((one.table, one.record), []).append(field)
    return [
        RecordDifference(table=table, record=record, fields=fields)
        for (table, record), fields in records.items()
    ]


def outputs_of(episode: EpisodeRecord) -> list[HeardOutput]:
    """What the user had to hear, and whether they did."""
    details = episode.details
    found: list[HeardOutput] = []
    for output, heard in (details.outputs if details else {}).items():
        loose = heard and details is not None and details.strict_outputs.get(output) is False
        words = "heard, but only inside a longer word or number" if loose else "heard"
        found.append(HeardOutput(output=output, heard=heard, words=words if heard else "not heard"))
    return found


def spent_by(usage: dict[str, Usage]) -> list[Spent]:
    """What was used, by purse."""
    same = ("calls", "prompt_tokens", "completion_tokens", "cached_calls")
    return [
        Spent(
            purse=purse,
            cost="–" if (cost := known_cost([used])) is None else money(cost),
            **{name: getattr(used, name) for name in same},
        )
        for purse, used in usage.items()
        if used.calls or used.cached_calls or used.cost is not None
    ]


def judgement_of(judge: str, record: JudgementRecord) -> Judgement:
    """What a judge says, as people read it."""
    same = ("author", "author_description", "kind", "kind_description", "error")
    return Judgement(judge=judge, **{name: getattr(record, name) for name in same})
