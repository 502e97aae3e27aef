"""Errors with messages for people.

GreenroomError
├── InputError          something the person gave is wrong (exit status 2)
│   ├── DataError       a pack, task or result file cannot be used
│   └── UnknownName     a domain, agent strategy, split or task that does not exist
├── EpisodeOver         a step was taken after the episode had ended
└── OutsideFault        something other than the agent or the workflow broke
"""

from __future__ import annotations

import os
import re
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class GreenroomError(Exception):
    """An error that Greenroom reports with a message for people."""


class InputError(GreenroomError):
    """The input is wrong; the text says why and what to do."""


class DataError(InputError):
    """A file or directory cannot be used; the text names it."""


class UnknownName(InputError):
    """An unknown name; the text lists the known ones."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind = kind
        self.name = name
        self.known = sorted(known)
        close = get_close_matches(name, self.known, n=1)
        hint = f" Did you mean '{close[0]}'?" if close else ""
        super().__init__(
            f"Unknown {kind} '{name}'.{hint} Known: {', '.join(self.known) or 'none'}."
        )


class EpisodeOver(GreenroomError):
    """The episode has ended; reset the environment before the next step."""


class OutsideFault(GreenroomError):
    """Something other than the agent or the workflow broke: its user, its environment, a worker."""

    outcome = "infrastructure_error"


_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_SHORTEST_SECRET = 6


def redacted(text: str) -> str:
    """The text with the values of secret environment variables replaced by their names."""
    for name, value in os.environ.items():
        if len(value) >= _SHORTEST_SECRET and _SECRET_NAME.search(name):
            text = text.replace(value, f"[{name}]")
    return text
