"""Errors with messages for people.

GreenroomError
├── InputError          something the person gave is wrong (exit status 2)
│   ├── Conflict        somebody else changed the same thing in the meantime
│   ├── DataError       a pack, task or result file cannot be used
│   │   └── SetUpFailed the initial state of a task cannot be made
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


class Conflict(InputError):
    """Somebody else changed it in the meantime; the text says what to load again."""


class DataError(InputError):
    """A file or directory cannot be used; the text names it."""


class SetUpFailed(DataError):
    """The initial state of a task cannot be made; the text names the task and what fails.

    An episode of the task has no result. The others are played.
    """

    outcome = "infrastructure_error"


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


_SECRET_NAME = re.compile(
    r"KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|COOKIE|AUTHORIZATION|(?:^|_)(?:PASS|AUTH|PAT|DSN)"
    r"(?:_|$)|_PWD$|_HEADERS$",
    re.IGNORECASE,
)
SHORTEST_SECRET = 6
"""Characters: shorter values of variables are not hidden, or whole texts would be."""
_HIDDEN = "[hidden]"
_URL_PASSWORD = re.compile(r"(?<=://)[^\s/?#\"'<>@]*:([^\s/?#\"'<>]+)@")
_PARTS = r"(?:key|token|secret|sig|signature|pass|password|passwd|pwd|auth|code|credential)"
_PATTERNS: tuple[tuple[tuple[str, ...], re.Pattern[str], str], ...] = (
    # The signs are looked for first: that is quicker by far than a pattern on a long text.
    # One slash: an address that was taken for a path.
    ((":/",), re.compile(r"(\w:/{1,2})[^\s/?#\"'<>]*@"), rf"\1{_HIDDEN}@"),
    (
        ("?", "&"),
        re.compile(rf"([?&][\w.-]*{_PARTS}=)[^\s&#\"'<>\[]+", re.IGNORECASE),
        rf"\1{_HIDDEN}",
    ),
    (
        ("earer", "EARER", "asic", "BASIC", "piKey"),
        re.compile(r"\b((?:bearer|basic|apikey)\s+)[\w.~+/=-]{8,}", re.IGNORECASE),
        rf"\1{_HIDDEN}",
    ),
    (
        ("sk-", "pk-", "sk_", "rk_"),
        re.compile(r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{12,}"),
        _HIDDEN,
    ),
    (
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "hf_", "xox", "npm_"),
        re.compile(r"\b(?:gh[pousr]_|github_pat_|glpat-|hf_|npm_|xox[abeoprs]-)[A-Za-z0-9_-]{10,}"),
        _HIDDEN,
    ),
    (("AKIA", "ASIA"), re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"), _HIDDEN),
    (("AIza",), re.compile(r"\bAIza[\w-]{30,}"), _HIDDEN),
    (("eyJ",), re.compile(r"\beyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]*"), _HIDDEN),
    (
        ("PRIVATE KEY-----",),
        re.compile(r"(-----BEGIN [A-Z ]*PRIVATE KEY-----)[^-]+"),
        rf"\1{_HIDDEN}",
    ),
    (
        ("key", "KEY", "Key", "oken", "OKEN", "ecret", "ECRET", "pass", "PASS", "Pass"),
        re.compile(
            r"((?:api[_-]?key|[_-]token|\btoken(?==)|secret(?:[_-]?key)?|passw(?:or)?d|passphrase)"
            r"[\"']?)(\s*=\s*[\"']?|\s*:\s*[\"']?(?=[^\s\"',;&]*\d))[^\s\"',;&\[\]{}()]{6,}",
            re.IGNORECASE,
        ),
        rf"\1\2{_HIDDEN}",
    ),
)


def redacted(text: str) -> str:
    """The text without secrets.

    Values of secret environment variables are replaced by their names, and what looks like a
    credential (in an address, as a bearer token, as a key of a known form) by [hidden].
    """
    for name, value in os.environ.items():
        if len(value) < SHORTEST_SECRET:
            continue
        if "://" in value:
            # The rest of an address is no secret, and helps to understand the text.
            for found in _URL_PASSWORD.finditer(value):
                if len(found[1]) >= SHORTEST_SECRET:
                    text = text.replace(found[1], f"[{name}]")
        elif value in text and _SECRET_NAME.search(name):
            text = text.replace(value, f"[{name}]")
    for signs, pattern, replacement in _PATTERNS:
        if any(sign in text for sign in signs):
            text = pattern.sub(replacement, text)
    return text


def holds_credentials(text: str) -> bool:
    """Whether an address in the text holds a name, a password or a key."""
    return "://" in text and any(pattern.search(text) for _, pattern, _ in _PATTERNS[:2])
