"""Generated conversations of simulated users, with a fault planted in most of them.

A wording set holds scenes, faults and things that look like faults and are none. The checks were
written on one set; figures are those of the other, whose wordings they were not written on.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from greenroom.audit import Talk, talk_of, talk_of_messages
from greenroom.store import EpisodeRecord

Line = tuple[str, tuple[str, ...]]
"""Who speaks (agent, user, tool, does), and the wordings of it."""


@dataclass(frozen=True)
class Scene:
    """What a user wants, and a conversation in which nothing goes wrong."""

    domain: str
    instructions: tuple[str, ...]
    lines: tuple[Line, ...]
    slots: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    is_chat: bool = False
    user_tools: tuple[str, ...] = ()
    """What the task has the user do: where both parties act, tasks name such calls."""


@dataclass(frozen=True)
class Plant:
    """Lines that go into a conversation, and what is to be found in them; None: nothing."""

    kind: str | None
    lines: tuple[Line, ...]
    rules: tuple[str, ...] = ("",)
    """What the instruction says more."""
    also: tuple[str, ...] = ()
    """Further kinds that are no error."""
    place: str = "middle"
    """middle, end (in place of the last lines), start (with nothing before it but the opening)."""
    domains: tuple[str, ...] = ()
    """Only in these; empty for all but two-party ones that it needs."""


@dataclass(frozen=True)
class Wordings:
    """Scenes and plants of one set, and where values are drawn from."""

    scenes: tuple[Scene, ...]
    plants: tuple[Plant, ...]
    values: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Generated:
    """A conversation, and what was planted in it."""

    talk: Talk
    kind: str | None
    also: tuple[str, ...]
    text: str


def generated(wordings: Wordings, seed: int, each: int) -> Iterator[Generated]:
    """Every plant in so many conversations of each kind, and as many without a plant."""
    draw = random.Random(seed)
    kinds: dict[str | None, list[Plant]] = {}
    for plant in wordings.plants:
        kinds.setdefault(plant.kind, []).append(plant)
    for kind, plants in kinds.items():
        for number in range(each * (3 if kind is None else 1)):
            plant = plants[number % len(plants)]
            scenes = [
                one
                for one in wordings.scenes
                if (one.domain in plant.domains if plant.domains else True)
                and not (one.is_chat and plant.kind in ("ended_too_early", "misused_tools"))
            ]
            yield _one(wordings, draw.choice(scenes), plant, draw)


def _one(wordings: Wordings, scene: Scene, plant: Plant, draw: random.Random) -> Generated:
    slots = {
        name: draw.choice(values) for name, values in {**wordings.values, **scene.slots}.items()
    }
    slots |= _numbers(draw)
    first, last = slots["first"], slots["last"]
    slots |= {
        "user_id": f"{first}_{last}_{slots['n4']}".lower(),
        "email": f"{first}.{last}{slots['n3']}@example.com".lower(),
        "other_email": f"{slots['other_first']}.{slots['other_last']}@example.org".lower(),
    }
    slots = {name: value.format_map(slots) for name, value in slots.items()}
    # Values of scenes may hold slots that hold slots.
    slots = {name: value.format_map(slots) for name, value in slots.items()}
    rule = draw.choice(plant.rules).format_map(slots)
    instruction = draw.choice(scene.instructions).format_map(slots)
    text = f"{instruction} {rule}".strip()
    lines = [*scene.lines]
    middle = next((place for place, line in enumerate(lines) if line[0] == "here"), len(lines) - 2)
    if plant.place == "end":
        lines = [*lines[:middle], *plant.lines]
    elif plant.place == "start":
        lines = [lines[0], *plant.lines]
    else:
        lines = [*lines[:middle], *plant.lines, *lines[middle:]]
    said = [(who, draw.choice(words).format_map(slots)) for who, words in lines if who != "here"]
    return Generated(
        _talk(scene, text, said), plant.kind, plant.also, "\n".join(f"{a}: {b}" for a, b in said)
    )


def _numbers(draw: random.Random) -> dict[str, str]:
    found = {f"n{size}": _digits(draw, size) for size in (3, 4, 7)}
    letters = "ABCDEFGHJKLMNPQRSTUVWXYZ"
    for name in ("code", "other_code"):
        found[name] = "".join(draw.choice(letters) for _ in range(3)) + _digits(draw, 3)
    for name in ("zip", "other_zip"):
        found[name] = _digits(draw, 5)
    for name in ("phone", "other_phone"):
        found[name] = f"555-{_digits(draw, 3)}-{_digits(draw, 4)}"
    for name in ("order", "other_order"):
        found[name] = f"#W{_digits(draw, 7)}"
    found["amount"] = f"{draw.randint(110, 480)}"
    found["other_amount"] = f"{draw.randint(3100, 9800)}"
    found["day"] = str(draw.randint(3, 12))
    found["other_day"] = str(draw.randint(21, 28))
    found["house"] = str(draw.randint(11, 900))
    return found


def _digits(draw: random.Random, size: int) -> str:
    return str(draw.randint(2, 9)) + "".join(str(draw.randint(0, 9)) for _ in range(size - 1))


def _talk(scene: Scene, instruction: str, said: Sequence[tuple[str, str]]) -> Talk:
    if scene.is_chat:
        roles = {"user": "user", "agent": "assistant", "tool": "tool"}
        messages = [
            {"role": roles[who], "content": words}
            for who, words in said
            if who in roles and "###STOP###" not in words
        ]
        return talk_of_messages(instruction, messages)
    return talk_of(_episode(instruction, said, scene.user_tools))


def _episode(
    instruction: str, said: Sequence[tuple[str, str]], user_tools: Sequence[str]
) -> EpisodeRecord:
    steps: list[dict[str, Any]] = []
    opening, heard, done = said[0][1], "", list[dict[str, Any]]()
    for who, words in said[1:]:
        if who == "agent":
            heard = f"{heard}\n{words}".strip()
        elif who == "tool":
            name, _, result = words.partition(": ")
            steps.append(
                {"action": {"name": name}, "observation": result, "source": name, "turn": 1}
            )
        elif who == "does":
            name, _, result = words.partition(": ")
            action = {
                "name": name,
                "party": "user",
                "writes": not name.startswith(("check", "run", "read", "view")),
            }
            done.append({"action": action, "observation": result})
        else:
            steps.append(
                {
                    "action": {"name": "respond", "kwargs": {"content": heard}},
                    "observation": words,
                    "source": "user",
                    "turn": 1,
                    "user_calls": done,
                }
            )
            heard, done = "", []
    return EpisodeRecord.model_validate(
        {
            "task_index": 0,
            "trial": 0,
            "reward": 1.0,
            "outcome": "success",
            "started_at": datetime(2026, 1, 1, tzinfo=UTC),
            "task": {
                "instruction": instruction,
                "actions": [
                    {"name": "do"},
                    *({"name": one, "party": "user"} for one in user_tools),
                ],
            },
            "opening": opening,
            "steps": steps,
        }
    )
