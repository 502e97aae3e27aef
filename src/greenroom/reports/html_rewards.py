"""The parts of an episode's reward, as pages show them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from greenroom.analysis.parties import PARTIES, calls_by
from greenroom.reports.texts import PARTS
from greenroom.store import EpisodeRecord
from greenroom.store.trajectory_records import RewardRecord
from greenroom.trajectories import Basis

Part = dict[str, Any]
"""A titled part of a page."""


def ground_truth(episode: EpisodeRecord) -> Part:
    """What both parties should have done."""
    calls = [call for party in PARTIES for _, call in calls_by(episode, party)]
    done = [call.action for call in calls if call.invalid is None]
    checks: list[dict[str, Any]] = []
    for action in episode.task.actions:
        good = any(
            (action.party, action.name) == (one.party, one.name) and action.kwargs == one.kwargs
            for one in done
        )
        pruned = episode.pruned is not None
        notes = {
            "by the user": action.party == "user",
            "changes the database": action.writes,
            "not done exactly so": not good and not pruned,
            "what was done is pruned": pruned,
        }
        note = "; ".join(text for text, applies in notes.items() if applies)
        checks.append(
            {
                "good": None if pruned else good,
                "name": action.name,
                "note": note,
                "values": action.kwargs,
            }
        )
    empty = "" if checks else "The task asks for no action."
    return {"title": "Ground truth", "id": "ground-truth", "checks": checks, "empty": empty}


def database(details: RewardRecord) -> Part:
    """What differs in the databases."""
    said = f"{'' if details.database else 'not '}as the ground truth leaves it"
    said += "" if "database" in details.basis else "; it does not count here"
    return {
        "title": "Database",
        "id": "database-differences",
        "checks": [{"good": details.database, "note": said}],
        "differences": [
            {
                "place": f"{one.table}[{one.record}]" + (f".{one.path}" if one.path else ""),
                "expected": "not there" if one.absent == "expected" else one.expected,
                "found": "not there" if one.absent == "actual" else one.actual,
            }
            for one in ([] if details.database else details.differences)
        ],
    }


def outputs(details: RewardRecord) -> Iterator[Part]:
    """What the user had to hear."""
    checks: list[dict[str, Any]] = []
    for output, heard in details.outputs.items():
        loose = heard and details.strict_outputs.get(output) is False
        note = "heard, but only inside a longer word or number" if loose else "heard"
        checks.append({"good": heard, "name": output, "note": note if heard else "not heard"})
    if checks:
        yield {"title": "What the user has to hear", "id": "required-outputs", "checks": checks}


def further_parts(details: RewardRecord) -> Iterator[Part]:
    """Assertions, calls and judged sentences, where a task has them."""
    judged = {True: "holds", False: "does not hold", None: "not judged"}
    found: list[tuple[str, Basis, list[dict[str, Any]]]] = [
        (
            "Assertions about the worlds",
            "assertions",
            [
                {
                    "good": one.met,
                    "name": one.name,
                    "note": f"of the {one.party}'s world, expected {str(one.expected).lower()}",
                    "values": one.kwargs,
                }
                for one in details.assertions
            ],
        ),
        (
            "Calls that somebody has to make",
            "actions",
            [
                {
                    "good": one.found,
                    "name": one.action.name,
                    "note": f"by the {one.action.party}",
                    "values": one.action.kwargs,
                }
                for one in details.actions
            ],
        ),
        (
            "Sentences for a judge",
            "judged",
            [
                {
                    "good": one.met,
                    "name": one.sentence,
                    "note": f"{judged[one.met]}{f': {one.reason}' if one.reason else ''}",
                }
                for one in details.judged
            ],
        ),
    ]
    for title, name, checks in found:
        counts = "" if name in details.basis else " (not counted)"
        if checks:
            yield {"title": f"{title}{counts}", "id": f"reward-{name}", "checks": checks}


def reward_words(details: RewardRecord | None) -> Iterator[tuple[str, str]]:
    """What the reward is made of, as facts."""
    if details is None:
        return
    signs = {True: "met", False: "not met", None: "not judged"}
    parts = details.parts
    yield "Counts", ", ".join(f"{PARTS[name]}: {signs[parts[name]]}" for name in details.basis)
    if details.unjudged:
        yield "Not judged", f"{details.unjudged} of the sentences: the reward leaves them out"
