"""The parts of an episode's reward, as people read them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from greenroom.playground.episode_view import MOST_DIFFERENCES, cut_value
from greenroom.reports.texts import PARTS
from greenroom.store import EpisodeRecord


class RewardCheck(BaseModel):
    """One assertion, call or sentence of a part."""

    party: Literal["agent", "user"] | None
    name: str
    arguments: Any
    met: bool | None
    words: str


class RewardPart(BaseModel):
    """A part of the reward."""

    name: str
    label: str
    counts: bool
    """It is part of the task's basis."""
    met: bool | None
    """Null where a judge has to decide first."""
    checks: list[RewardCheck]


def reward_parts(episode: EpisodeRecord) -> list[RewardPart]:
    """The parts of the reward, with what each looked at."""
    details = episode.details
    if details is None:
        return []
    checks: dict[str, list[RewardCheck]] = {
        "assertions": [
            RewardCheck(
                party=one.party,
                name=one.name,
                arguments=cut_value(one.kwargs)[0],
                met=one.met,
                words=one.message or f"expected {str(one.expected).lower()}",
            )
            for one in details.assertions
        ],
        "actions": [
            RewardCheck(
                party=one.action.party,
                name=one.action.name,
                arguments=cut_value(one.action.kwargs)[0],
                met=one.found,
                words="called" if one.found else "not called",
            )
            for one in details.actions
        ],
        "judged": [
            RewardCheck(
                party=None, name=one.sentence, arguments=None, met=one.met, words=one.reason
            )
            for one in details.judged
        ],
    }
    return [
        RewardPart(
            name=name,
            label=PARTS[name],
            counts=name in details.basis,
            met=met,
            checks=checks.get(name, [])[:MOST_DIFFERENCES],
        )
        for name, met in details.parts.items()
    ]
