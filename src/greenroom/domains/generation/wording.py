"""Texts with alternatives, from which a seed draws one wording.

A template may hold choices, named lists and words:

- `[as soon as you can|today|right away]` is one of its parts, which may be empty or hold more
  brackets;
- `<relative>` is an entry of the list of that name, another one each time it occurs;
- `{order}` is a word that the caller gives.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from random import Random
from typing import Final

import orjson

from greenroom.domains.generation.people import PEOPLE

Lists = Mapping[str, Sequence[str]]

_SHARED: Final = "data/phrases.json"
_CHOICE: Final = re.compile(r"\[([^\[\]]*)\]")
_LIST: Final = re.compile(r"<(\w+)>")
_SPACES: Final = re.compile(r" +(?=[ .,;:?])")


@dataclass(frozen=True)
class Wording:
    """Several templates for each thing to say, and the lists that they draw from."""

    texts: Lists
    lists: Lists

    def say(self, rng: Random, text: str, **words: str) -> str:
        """One way to say something."""
        templates = self.texts[text]
        template = templates[0] if len(templates) == 1 else rng.choice(templates)
        drawn = self._draw(rng, template)
        return _SPACES.sub("", drawn.format(**words)).strip()

    def _draw(self, rng: Random, template: str) -> str:
        drawn: dict[str, list[str]] = {}

        def entry(found: re.Match[str]) -> str:
            entries, used = self.lists[found[1]], drawn.setdefault(found[1], [])
            left = [one for one in entries if one not in used] or entries
            used.append(rng.choice(left))
            return used[-1]

        while True:
            listed = _LIST.sub(entry, template)
            chosen = _CHOICE.sub(lambda found: rng.choice(found[1].split("|")), listed)
            if chosen == template:
                return chosen
            template = chosen


def shared_wording(own: Mapping[str, Lists]) -> Wording:
    """A domain's own texts and lists, with those that all domains share.

    Names of people and cities are lists, too: `<first>` and `<city>`.
    """
    shared = orjson.loads(files("greenroom.domains.generation").joinpath(_SHARED).read_bytes())
    names = {"first": PEOPLE["first_names"], "city": [city for city, *_ in PEOPLE["cities"]]}
    return Wording(shared["texts"] | own["texts"], shared["lists"] | names | own["lists"])
