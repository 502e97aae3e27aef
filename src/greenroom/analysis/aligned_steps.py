"""Steps of an episode beside the ground truth's actions, and steps of two episodes side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from greenroom.analysis.alignment import Alignment, Relation, Write, align
from greenroom.analysis.arguments import ArgumentDifference, argument_differences
from greenroom.analysis.parties import Done, calls_by
from greenroom.analysis.tools import refused
from greenroom.canonical import canonical_text
from greenroom.store.records import EpisodeRecord
from greenroom.store.trajectory_records import ActionRecord, StepRecord
from greenroom.trajectories import RESPOND, Party

StepRelation = Literal["same", "words", "arguments", "left", "right"]
"""How steps of two episodes stand side by side: the same, other words to the user, other arguments
of the same tool, or a step that only one of the two has."""

_OTHER_WORDS = 0.5
_OTHER_ARGUMENTS = 1.0
_ALONE = 0.9
_MOST_STEPS = 400
"""So many steps of each are aligned; what comes after stands alone."""


@dataclass(frozen=True)
class TruthAction:
    """An action of the ground truth, and the step that stands for it."""

    action: ActionRecord
    step: int | None
    """The place of the step in the episode; None if no step stands for it, or the user did it
    before their first message. A call of the user belongs to the step that they answer."""
    relation: Relation
    arguments: tuple[ArgumentDifference, ...] = ()
    refusal: str | None = None
    """What came back, where the step changed nothing."""


@dataclass(frozen=True)
class AlignedEpisode:
    """The ground truth in its order, and the steps that changed something beside it."""

    truth: tuple[TruthAction, ...]
    extra: tuple[int, ...]
    """Steps that changed something that was not to be changed."""


def aligned_writes(
    episode: EpisodeRecord, party: Party = "agent"
) -> tuple[Alignment, dict[int, int | None]]:
    """A party's writes that were wanted and made, and the step of each that was made, by `id`."""
    wanted = (one for one in episode.task.actions if one.writes and one.party == party)
    needed = [Write(one.name, one.kwargs) for one in wanted]
    made = [
        (place, Write(one.action.name, one.action.kwargs, _refusal(one), one.invalid))
        for place, one in calls_by(episode, party)
        if one.action.writes
    ]
    found = align(needed, [write for _, write in made])
    return found, {id(write): place for place, write in made}


def align_episode(episode: EpisodeRecord) -> AlignedEpisode:
    """Put the steps of an episode beside the actions of the ground truth.

    A write stands beside the one that was made for it. A look stands beside the first step that is
    the same call: looks change nothing, so others do no harm.
    """
    aligned: dict[Party, _Aligned] = {
        "agent": _Aligned(episode, "agent"),
        "user": _Aligned(episode, "user"),
    }
    truth = tuple(aligned[action.party].take(action) for action in episode.task.actions)
    own = aligned["agent"]
    places = (own.places[id(write)] for write in own.alignment.extra)
    extra = sorted(place for place in places if place is not None)
    return AlignedEpisode(truth, tuple(extra))


class _Aligned:
    """What a party did beside what it should have done, taken in the order of the truth."""

    def __init__(self, episode: EpisodeRecord, party: Party) -> None:
        self.alignment, self.places = aligned_writes(episode, party)
        self._pairs = iter(self.alignment.pairs)
        self._looks = _Looks(calls_by(episode, party))

    def take(self, action: ActionRecord) -> TruthAction:
        if not action.writes:
            return self._looks.take(action)
        pair = next(self._pairs)
        made = pair.actual
        step = None if made is None else self.places[id(made)]
        refusal = None if made is None else made.refusal
        return TruthAction(action, step, pair.relation, pair.arguments, refusal)


class _Looks:
    """The calls that change nothing, each taken once."""

    def __init__(self, calls: Iterable[tuple[int | None, Done]]) -> None:
        self._places: dict[str, list[int | None]] = {}
        for place, call in calls:
            if call.invalid is None and not call.action.writes:
                self._places.setdefault(_text(call.action), []).append(place)

    def take(self, action: ActionRecord) -> TruthAction:
        places = self._places.get(_text(action))
        if not places:
            return TruthAction(action, None, "none")
        return TruthAction(action, places.pop(0), "same")


@dataclass(frozen=True)
class StepPair:
    """Steps of two episodes that stand side by side; None where one has no such step."""

    left: int | None
    right: int | None
    relation: StepRelation
    arguments: tuple[ArgumentDifference, ...] = ()


def align_steps(left: Sequence[StepRecord], right: Sequence[StepRecord]) -> list[StepPair]:
    """Put the steps of two episodes side by side, in the order of both.

    Each has its partner in the other if that costs less than standing alone: the same call costs
    nothing, other words to the user little, other arguments of the same tool more.
    """
    return list(_aligned(left, right))


def _aligned(left: Sequence[StepRecord], right: Sequence[StepRecord]) -> Iterator[StepPair]:
    height, width = min(len(left), _MOST_STEPS), min(len(right), _MOST_STEPS)
    ours = [_text(step.action) for step in left[:height]]
    theirs = [_text(step.action) for step in right[:width]]
    # The least cost from each place to the end, so that the way is read from the beginning.
    costs = [[0.0] * (width + 1) for _ in range(height + 1)]
    for i in range(height, -1, -1):
        for j in range(width, -1, -1):
            ways: list[float] = []
            if i < height:
                ways.append(_ALONE + costs[i + 1][j])
            if j < width:
                ways.append(_ALONE + costs[i][j + 1])
            if i < height and j < width:
                ways.append(_cost(left[i], right[j], ours[i] == theirs[j]) + costs[i + 1][j + 1])
            costs[i][j] = min(ways, default=0.0)
    i = j = 0
    while i < height or j < width:
        if i < height and j < width:
            together = _cost(left[i], right[j], ours[i] == theirs[j]) + costs[i + 1][j + 1]
            if together <= costs[i][j] + 1e-9:
                yield _pair(i, j, left[i], right[j], ours[i] == theirs[j])
                i, j = i + 1, j + 1
                continue
        if i < height and _ALONE + costs[i + 1][j] <= costs[i][j] + 1e-9:
            yield StepPair(i, None, "left")
            i += 1
        else:
            yield StepPair(None, j, "right")
            j += 1
    yield from (StepPair(place, None, "left") for place in range(height, len(left)))
    yield from (StepPair(None, place, "right") for place in range(width, len(right)))


def _cost(left: StepRecord, right: StepRecord, same: bool) -> float:
    if same:
        return 0.0
    if left.action.name != right.action.name:
        return 2 * _ALONE + 1  # never: both stand alone
    return _OTHER_WORDS if left.action.name == RESPOND else _OTHER_ARGUMENTS


def _pair(i: int, j: int, left: StepRecord, right: StepRecord, same: bool) -> StepPair:
    if same:
        return StepPair(i, j, "same")
    if left.action.name == RESPOND:
        return StepPair(i, j, "words")
    differing = argument_differences(left.action.kwargs, right.action.kwargs)
    return StepPair(i, j, "arguments", tuple(differing))


def _text(action: ActionRecord) -> str:
    return f"{action.name} {canonical_text(action.kwargs)}"


def _refusal(step: Done) -> str | None:
    return step.observation if refused(step) else None
