"""Utterances without a model: sentences to train with, and others to measure with.

Without a model that writes utterances, patterns make them: frames around the command's own
utterances and around its name in words, with and without values. Words are swapped for others. Some
patterns and some words are never trained with. Utterances made of them show how well commands are
understood in wordings that are new to the models. The same command always gets the same utterances.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any

import orjson

from greenroom.agents.fastworkflow.fastworkflow_tool_map import local_name

VERSION = 2
"""The version of the utterances; it is part of the identity of trained models."""


@dataclass(frozen=True)
class Pattern:
    """One way to say things: sentences with places for what is said."""

    name: str
    texts: Sequence[str]
    terse: bool = False
    """Without capitals, full stops and courtesy."""


@dataclass(frozen=True)
class Command:
    """What utterances say of a command."""

    name: str
    own: Sequence[str] = ()
    """The utterances that its author wrote."""
    parameters: Sequence[str] = ()

    @property
    def words(self) -> str:
        """The name in words: `get_order_details` is "get order details"."""
        return _worded(local_name(self.name))


_DATA: dict[str, Any] = orjson.loads(Path(__file__).with_suffix(".json").read_bytes())
PERSONAS: Sequence[str] = _DATA["personas"]
"""Who utters commands where a model writes the utterances."""
PATTERNS = tuple(Pattern(**pattern) for pattern in _DATA["patterns"])
"""The patterns to train with."""
HELD_OUT = tuple(Pattern(**pattern) for pattern in _DATA["held_out"])
"""The patterns to measure with."""
VALUES: Sequence[str] = _DATA["values"]
"""How a value follows an utterance of the training."""

Swaps = Mapping[str, Sequence[str]]
SWAPS: Swaps = _DATA["swaps"]
"""Words, and others that may stand in their place."""
HELD_OUT_SWAPS: Swaps = _DATA["held_out_swaps"]
"""The same, to measure with."""

_COURTESY = re.compile(
    r"^(please|can you|could you|can i|i want to|i would like to|i'd like to|i need to)\s+",
    flags=re.IGNORECASE,
)
_PLACE = re.compile(r"{(\w+)}")
_CODE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_VALUED = 0.5
"""The share of utterances with values, the same for all commands, so that a value hints at none."""
_SWAPPED = 0.3


def variations(command: Command, count: int) -> list[str]:
    """That many utterances to train with, of all patterns in turn."""
    random = _random(command, "train")
    found: dict[str, None] = {}
    for _, pattern in zip(range(20 * count), cycle(PATTERNS), strict=False):
        if len(found) == count:
            break
        places = _places(command, random)
        fitting = [text for text in pattern.texts if _fits(text, places)]
        said = _said(random.choice(fitting), places, terse=pattern.terse) if fitting else ""
        if said and command.parameters and random.random() < _VALUED:
            said = said.rstrip(" .") + "".join(_valued(command, random))
        if said and said not in command.own:
            found[said] = None
    return list(found)


def held_out(command: Command) -> list[tuple[str, str]]:
    """Utterances to measure with, each with the name of its pattern."""
    random = _random(command, "measure")
    known = {_normal(own) for own in command.own}
    found: list[tuple[str, str]] = []
    for pattern in HELD_OUT:
        for text in pattern.texts:
            places = _places(command, random, swap=False)
            # An author may have written a sentence of a pattern: it is trained with.
            if _fits(text, places) and _normal(_said(text, places | {"facts": ""})) not in known:
                found.append((pattern.name, _said(text, places)))
    return found


def _random(command: Command, purpose: str) -> Random:
    # The same random numbers on every machine; nothing here is a secret.
    return Random(f"{purpose}\n{command.name}\n{command.own}")  # noqa: S311


def _fits(text: str, places: Mapping[str, str]) -> bool:
    """Whether the command has what the sentence speaks of."""
    return places.keys() >= set(_PLACE.findall(text))


def _said(text: str, places: Mapping[str, str], *, terse: bool = False) -> str:
    if terse:
        own = _COURTESY.sub("", places["own"]).rstrip(" .!?")
        return text.format(own=own).lower()
    return text.format(**places).strip()


def _places(command: Command, random: Random, *, swap: bool = True) -> dict[str, str]:
    words = _swapped(command.words, SWAPS, _SWAPPED, random) if swap else command.words
    facts = (f"The {_worded(one)} is {_value(random)}." for one in command.parameters)
    places = {"name": words, "Name": words[:1].upper() + words[1:], "facts": " ".join(facts)}
    if command.own:
        places["own"] = _swapped(random.choice(command.own), SWAPS, _SWAPPED, random)
    if command.parameters:
        places["parameters"] = " and ".join(map(_worded, command.parameters[:3]))
    other = _swapped(command.words, HELD_OUT_SWAPS, 1, random)
    return places if other == command.words else places | {"other": other}


def _valued(command: Command, random: Random) -> Iterator[str]:
    many = random.randint(1, len(command.parameters))
    form = random.choice(VALUES)
    for name in command.parameters[:many]:
        yield form.format(tag=name, parameter=_worded(name), value=_value(random))


def _value(random: Random) -> str:
    number, code = random.randrange(1_000_000, 9_999_999), _code(random)
    return random.choice(
        (f"#W{number}", str(number), code, f"{code.lower()}_{number}", f"{code}@example.com")
    )


def _code(random: Random) -> str:
    return "".join(random.choices(_CODE_LETTERS, k=6))


def _swapped(text: str, swaps: Swaps, share: float, random: Random) -> str:
    def other(match: re.Match[str]) -> str:
        if random.random() >= share:
            return match[0]
        word = random.choice(swaps[match[0].lower()])
        return word.capitalize() if match[0][0].isupper() else word

    words = "|".join(sorted(swaps, key=len, reverse=True))
    return re.sub(rf"\b({words})\b", other, text, flags=re.IGNORECASE)


def _worded(name: str) -> str:
    return name.replace("_", " ").strip()


def _normal(said: str) -> str:
    return " ".join(re.findall(r"\w+", said.casefold()))


_COUNT = re.compile(r"Generate (\d+) unique utterances")
_PERSONA = re.compile(r"\[(Persona_\d+)\]\s*\n")
_COMMAND = re.compile(r"intent consistency with command: (\S+)")
_OWN = re.compile(r"style and intent:\s*\n(.*?)\n\s*Guidelines:", flags=re.DOTALL)


def answer_of_no_model(prompt: str, parameters: Mapping[str, Sequence[str]]) -> str:
    """The answer to FastWorkflow's request for utterances of one persona.

    `parameters` has the names of each command's parameters. Requests for example values get none.
    """
    own, count, name = (find.search(prompt) for find in (_OWN, _COUNT, _COMMAND))
    persona = _PERSONA.search(prompt)
    if own is None or count is None or name is None or persona is None:
        return ""
    lines = tuple(line.strip() for line in own[1].splitlines() if line.strip())
    command = Command(name[1], lines, tuple(parameters.get(name[1], ())))
    return "\n".join([f"[{persona[1]}]", *variations(command, int(count[1]))])
