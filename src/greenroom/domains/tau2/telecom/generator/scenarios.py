"""Fresh telecom tasks: issues in the mix of tau2-bench's, with callers and words of our own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Final

from greenroom.domains.generation import Wording
from greenroom.domains.tasks import Task
from greenroom.domains.tau2.tasks import read_tasks
from greenroom.domains.tau2.telecom.composition import (
    PERSONAS,
    IntentTexts,
    Selection,
    Texts,
    compose_task,
    selections,
)
from greenroom.domains.tau2.telecom.generator.carrier import Names
from greenroom.domains.tau2.telecom.issues import ISSUES, Caller

_BEGINNING: Final = re.compile(r"(?:^|(?<=[.] ))[a-z]")


@dataclass(frozen=True)
class Mix:
    """How tasks are distributed."""

    tasks: Mapping[tuple[str, bool], Mapping[int, int]]
    """For an intent, and whether its issues can be fixed: tasks by their number of issues."""
    personas: Sequence[str] = PERSONAS


MIXES: Final[Mapping[str, Mix]] = {
    "official": Mix(
        {
            ("mobile_data_issue", True): {2: 8, 3: 8, 4: 6, 5: 6, 6: 5, 7: 3},
            ("mms_issue", True): {2: 8, 3: 9, 4: 6, 5: 5, 6: 6, 7: 5, 8: 4, 9: 6},
            ("service_issue", True): {2: 4, 3: 4, 4: 1},
            ("service_issue", False): {2: 5, 3: 5, 4: 8, 5: 2},
        }
    ),
    "hard": Mix(
        {
            ("mobile_data_issue", True): {5: 3, 6: 5, 7: 3},
            ("mms_issue", True): {7: 3, 8: 5, 9: 5},
            ("service_issue", True): {3: 3, 4: 1},
            ("service_issue", False): {4: 3, 5: 2},
        },
        personas=("Hard",),
    ),
}
"""The mixes by difficulty. "official" is that of the split base of tau2-bench: 114 tasks."""


def draw_tasks(
    rng: Random,
    wording: Wording,
    names_of_people: Names,
    callers: Sequence[Caller],
    count: int,
    difficulty: str,
) -> list[Task]:
    """This many tasks; no two are about the same issues of the same line."""
    mix = MIXES[difficulty]
    seen: set[tuple[str, Selection]] = set()
    tasks: list[Task] = []
    for intent, fixable, size in _kinds(rng, mix, count):
        pool = _pool(intent, size, fixable)
        names, caller = rng.choice(pool), rng.choice(callers)
        while (caller.line_id, names) in seen:
            names, caller = rng.choice(pool), rng.choice(callers)
        seen.add((caller.line_id, names))
        persona = mix.personas[len(tasks) % len(mix.personas)]
        voice = _Voice(rng, wording, names_of_people, caller)
        texts = Texts({intent: _texts(voice, intent, caller)}, {persona: voice.persona(persona)})
        record = compose_task(texts, intent, names, persona, caller)
        record["id"] += f"[LINE:{caller.line_id}]"
        [task] = read_tasks([record], "generated")
        tags = (intent, f"persona {persona.lower()}", f"{size} issues")
        tasks.append(replace(task, user_id=caller.customer_id, tags=tags))
    return tasks


def _kinds(rng: Random, mix: Mix, count: int) -> list[tuple[str, bool, int]]:
    """Intents, fixable or not, and sizes: evenly spread, so that a small pack has the mix, too."""
    pool = [
        (intent, fixable, size)
        for (intent, fixable), sizes in mix.tasks.items()
        for size, number in sizes.items()
        for _ in range(number)
    ]
    kinds = [pool[place * len(pool) // count] for place in range(count)]
    rng.shuffle(kinds)
    return kinds


@cache
def _pool(intent: str, size: int, fixable: bool) -> tuple[Selection, ...]:
    return tuple(
        names
        for names, _persona in selections(intent)
        if len(names) == size and all(ISSUES[name].fix for name in names) == fixable
    )


class _Voice:
    """Says the things of one task. Everybody in it has a first name of their own."""

    def __init__(self, rng: Random, wording: Wording, names: Names, caller: Caller) -> None:
        self._rng, self._wording, self._names = rng, wording, names
        others = [first for first in names["first_names"] if first != caller.name.split()[0]]
        self._first_names = iter(rng.sample(others, len(others)))

    def say(self, text: str, **words: str) -> str:
        people = {"friend": self._somebody(), "other": self._somebody()}
        introduced = {one: full for one, (full, _) in people.items()}
        said = self._wording.say(self._rng, text, **introduced, **words)
        # Somebody is introduced once, and goes by the first name from then on.
        for full, first in people.values():
            before, known, after = said.partition(full)
            said = before + known + after.replace(full, first)
        return _BEGINNING.sub(lambda found: found[0].upper(), said)

    def _somebody(self) -> tuple[str, str]:
        """Somebody whom the caller knows: how they are introduced, and their first name."""
        first = next(self._first_names)
        last = self._rng.choice(self._names["last_names"])
        return self._wording.say(self._rng, "friend", first=first, last=last), first

    def persona(self, persona: str) -> str | None:
        if persona == "None":
            return None
        years = (28, 58) if persona == "Easy" else (61, 84)
        return self.say(persona, age=str(self._rng.randint(*years)))


def _texts(voice: _Voice, intent: str, caller: Caller) -> IntentTexts:
    who = {"name": caller.name, "phone": caller.phone_number}
    amount = f"{caller.refuel_gb:g}"
    lines = [voice.say(text) for text in ("haste", "follow", f"{intent}_done", "honest")]
    if intent != "service_issue":
        lines.insert(3, voice.say("refuel", gb=amount))
    problem = voice.say(f"{intent}_problem", gb=amount)
    done = voice.say(f"{intent}_ticket_done")

    def about(text: str, place: str, **words: str) -> str:
        # A user without service does not say where they are.
        if intent == "service_issue":
            return voice.say(f"{text}_at_no_place", **who, **words)
        return voice.say(text, **who, **words, place=place)

    def known(_caller: Caller, abroad: bool) -> str:
        place = voice.say("abroad" if abroad else "home")
        return about("known", place[0].lower() + place[1:])

    def ticket(_caller: Caller, abroad: bool) -> str:
        return about("ticket", "abroad" if abroad else "at home", problem=problem, done=done)

    return IntentTexts(
        purpose=intent,
        reason_for_call=voice.say(intent),
        task_instructions=" ".join(lines),
        known_info=known,
        ticket=ticket,
    )
