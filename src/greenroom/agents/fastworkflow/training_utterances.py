"""Training utterances without a model: variations of a command's own utterances.

FastWorkflow has a model write utterances as several personas would. Without a model, each of our
personas has a manner instead: how it begins and ends, and whether it leaves out what is not needed.
Words are swapped for others, and some utterances go on with a value between tags, as agents write
them. The same utterances always give the same variations.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import orjson

VERSION = 1
"""The version of the variations; it is part of the identity of trained models."""


@dataclass(frozen=True)
class Manner:
    """A persona and its style."""

    persona: str
    begins: Sequence[str] = ("",)
    ends: Sequence[str] = ("",)
    terse: bool = False
    """Writes without capitals, full stops and courtesy."""


_DATA: dict[str, Any] = orjson.loads(Path(__file__).with_suffix(".json").read_bytes())
_SWAPS: dict[str, list[str]] = _DATA["swaps"]
"""Words, and others that may stand in their place."""
MANNERS = tuple(Manner(**manner) for manner in _DATA["manners"])

_WORD = re.compile(rf"\b({'|'.join(sorted(_SWAPS, key=len, reverse=True))})\b", flags=re.IGNORECASE)
_COURTESY = re.compile(
    r"^(please|can you|could you|can i|i want to|i would like to|i'd like to|i need to)\s+",
    flags=re.IGNORECASE,
)
_CODE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_TAGGED = 0.3
"""The share of utterances with a tag, the same for all commands, so that a tag hints at none."""


def variations(
    utterances: Sequence[str], manner: Manner, count: int, parameters: Sequence[str] = ()
) -> list[str]:
    """That many variations of the utterances, in a persona's manner.

    `parameters` are the names of the command's parameters, for the tags.
    """
    # The same random numbers on every machine; nothing here is a secret.
    random = Random(f"{manner.persona}\n{utterances}")  # noqa: S311
    found: dict[str, None] = {}
    for attempt in range(20 * count):
        if len(found) == count or not utterances:
            break
        said = _said(utterances[attempt % len(utterances)], manner, random)
        if parameters and random.random() < _TAGGED:
            name = random.choice(parameters)
            said += f" <{name}>{_code(random)}</{name}>"
        if said not in utterances:
            found[said] = None
    return list(found)


def _said(utterance: str, manner: Manner, random: Random) -> str:
    text = _WORD.sub(lambda match: _swapped(match[0], random), utterance)
    if manner.terse:
        text = _COURTESY.sub("", text).rstrip(" .!?").lower()
    end = random.choice(manner.ends).format(
        number=random.randrange(1_000_000, 9_999_999), code=_code(random)
    )
    return random.choice(manner.begins) + text + end


def _code(random: Random) -> str:
    return "".join(random.choices(_CODE_LETTERS, k=6))


def _swapped(word: str, random: Random) -> str:
    if random.random() < 0.5:
        return word
    other = random.choice(_SWAPS[word.lower()])
    return other.capitalize() if word[0].isupper() else other


_COUNT = re.compile(r"Generate (\d+) unique utterances")
_PERSONA = re.compile(r"\[(Persona_\d+)\]\s*\n([^\n]+)")
_COMMAND = re.compile(r"intent consistency with command: (\S+)")
_OWN = re.compile(r"style and intent:\s*\n(.*?)\n\s*Guidelines:", flags=re.DOTALL)


def answer_of_no_model(prompt: str, parameters: Mapping[str, Sequence[str]]) -> str:
    """The answer to FastWorkflow's request for utterances: variations for each persona.

    `parameters` has the names of each command's parameters. Requests for example values get none.
    """
    own, count, command = (find.search(prompt) for find in (_OWN, _COUNT, _COMMAND))
    if own is None or count is None or command is None:
        return ""
    utterances = [line.strip() for line in own[1].splitlines() if line.strip()]
    names = parameters.get(command[1], ())
    manners = {manner.persona: manner for manner in MANNERS}
    return "\n".join(
        line
        for name, persona in _PERSONA.findall(prompt)
        for line in (
            f"[{name}]",
            *variations(utterances, manners[persona.strip()], int(count[1]), names),
            "",
        )
    )
