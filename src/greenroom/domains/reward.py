"""The score of an episode: Tau Bench's reward and its parts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from greenroom.domains.diff import FieldDifference, record_differences

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from greenroom.domains.domain import GroundTruth
    from greenroom.domains.tasks import Task
    from greenroom.domains.world import World


@dataclass(frozen=True)
class Reward:
    """Whether the database is as the ground truth leaves it, and the outputs were said."""

    world: World
    truth: GroundTruth
    database: bool
    """The database equals the ground truth's."""
    outputs: dict[str, bool]
    """Each required output, and whether the agent's messages contain it: the official check."""
    strict_outputs: dict[str, bool]
    """The same for whole words and numbers: "1000" does not contain "10"."""

    @property
    def value(self) -> float:
        """Tau Bench's reward: 1.0 or 0.0."""
        return float(self.database and all(self.outputs.values()))

    @property
    def strict_value(self) -> float:
        """The reward under the strict output check."""
        return float(self.database and all(self.strict_outputs.values()))

    @cached_property
    def differences(self) -> list[FieldDifference]:
        """The fields that differ from the ground truth's database."""
        expected, actual = self.truth.changes, self.world.changes()
        return [
            difference
            for place in dict.fromkeys([*expected, *actual])
            if expected.get(place, place) != actual.get(place, place)
            for difference in record_differences(
                place, self.truth.world.record(place), self.world.record(place)
            )
        ]

    def to_json(self) -> dict[str, Any]:
        """Plain JSON of all parts."""
        return {
            "reward": self.value,
            "strict_reward": self.strict_value,
            "database": self.database,
            "outputs": self.outputs,
            "strict_outputs": self.strict_outputs,
            "differences": [difference.to_json() for difference in self.differences],
        }


def score(task: Task, truth: GroundTruth, world: World, said: Sequence[str]) -> Reward:
    """Score a finished episode from its world and the agent's messages to the user."""
    texts = [text.lower().replace(",", "") for text in said] if task.outputs else []
    return Reward(
        world=world,
        truth=truth,
        database=truth.matches(world),
        outputs={output: _occurs(output, texts) for output in task.outputs},
        strict_outputs={output: _occurs_whole(output, texts) for output in task.outputs},
    )


def _occurs(output: str, texts: Iterable[str]) -> bool:
    wanted = output.lower()
    return any(wanted in text for text in texts)


def _occurs_whole(output: str, texts: Iterable[str]) -> bool:
    # Neither inside a word nor inside a longer number: "10" is not in "1000", "10.5" or "3.10".
    wanted = re.escape(output.lower().replace(",", ""))
    pattern = re.compile(rf"(?<!\w)(?<!\d\.){wanted}(?!\w)(?!\.\d)")
    return any(pattern.search(text) for text in texts)
