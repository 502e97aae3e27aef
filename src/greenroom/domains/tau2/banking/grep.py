"""How often a pattern matches each of many texts, within a time limit.

A pattern with several repetitions can take years, and Python's matching cannot be stopped in
its own process. Such a pattern is looked for in another process, which is ended in time.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import warnings
from collections.abc import Sequence
from typing import Final

from greenroom.domains.tools import Refused

SECONDS: Final = 10
_REPETITION: Final = re.compile(r"[*+]|\{\d*,\}")
_OPTION: Final = re.compile(r"[?{]")
_RISKY: Final = re.compile(
    r"\)(?:[*+]|\{)"  # a group that repeats
    r"|[\]D](?:[*+]|\{)"  # what may run over many lines
    r"|\(\?[a-zA-Z]*s"  # the flag that lets a dot do so
)
_COUNT: Final = """
import json, re, sys
pattern, texts = json.load(sys.stdin)
matches = re.compile(pattern, re.IGNORECASE)
print(json.dumps([len(matches.findall(text)) for text in texts]))
"""


def match_counts(pattern: str, texts: Sequence[str]) -> list[int]:
    """The number of matches in each text; what is no regular expression is taken as it stands."""
    with warnings.catch_warnings():
        # What a later Python may read differently is no fault of the agent.
        warnings.simplefilter("ignore")
        try:
            matches = re.compile(pattern, re.IGNORECASE)
        except re.error:
            pattern = re.escape(pattern)
            matches = re.compile(pattern, re.IGNORECASE)
    if _may_take_long(pattern):
        return _counted_elsewhere(pattern, texts)
    return [len(matches.findall(text)) for text in texts]


def _may_take_long(pattern: str) -> bool:
    return (
        _RISKY.search(pattern) is not None
        or len(_REPETITION.findall(pattern)) > 1
        or len(_OPTION.findall(pattern)) > 8
    )


def _counted_elsewhere(pattern: str, texts: Sequence[str]) -> list[int]:
    try:
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-I", "-S", "-c", _COUNT],
            input=json.dumps([pattern, list(texts)]),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=True,
        )
    except subprocess.TimeoutExpired as error:
        raise Refused(
            f"The pattern took longer than {SECONDS} seconds: use fewer repetitions."
        ) from error
    return json.loads(done.stdout)
