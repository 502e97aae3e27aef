"""What has to be said: words, phrases and regular expressions of scripts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from greenroom.options import Config
from greenroom.util import patterns

RESULT: Final = "result"
"""The placeholder for what the calls of a message gave."""

_PLACEHOLDER: Final = re.compile(r"\{\{\s*([^{}]+?)\s*\}\}")
_QUOTES: Final = str.maketrans({"\N{RIGHT SINGLE QUOTATION MARK}": "'", "\N{NO-BREAK SPACE}": " "})


def _as_list(given: Any) -> Any:
    return [given] if isinstance(given, str) else given


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("a text to look for is empty")
    return text


def _is_pattern(text: str) -> str:
    # What stands in braces is filled in later, as a plain text.
    patterns.compiled(_PLACEHOLDER.sub("x", _not_blank(text)))
    return text


Phrases = Annotated[
    tuple[Annotated[str, AfterValidator(_not_blank)], ...], BeforeValidator(_as_list)
]
"""Texts to look for; one may be written without a list."""


class Condition(Config):
    """What a message of the agent has to say. All that is given has to hold.

    Phrases are found as whole words, in any case and spacing.
    """

    says: Phrases = Field(default=(), description="One of these phrases.")
    says_all: Phrases = Field(default=(), description="All of these phrases.")
    says_none: Phrases = Field(default=(), description="None of these phrases.")
    matches: Annotated[str, AfterValidator(_is_pattern)] | None = Field(
        default=None, description="A regular expression that is found in it, in any case."
    )

    @model_validator(mode="after")
    def _knows_no_result(self) -> Condition:
        texts = [*self.says, *self.says_all, *self.says_none, self.matches or ""]
        if any(RESULT in placeholders(text) for text in texts):
            raise ValueError("{{result}} is for what a user says, and not for what is looked for")
        return self

    @property
    def looks(self) -> bool:
        """Whether it asks for anything."""
        return bool(self.says or self.says_all or self.says_none or self.matches)

    async def holds(self, message: str) -> bool:
        """Whether a message says it; TimeoutError where the pattern takes too long."""
        if self.says or self.says_all or self.says_none:
            words = _plain(message)
            if self.says and not any(_has(words, phrase) for phrase in self.says):
                return False
            if not all(_has(words, phrase) for phrase in self.says_all):
                return False
            if any(_has(words, phrase) for phrase in self.says_none):
                return False
        if self.matches is None:
            return True
        pattern = patterns.compiled(self.matches, ignore_case=True)
        return await patterns.match_start(pattern, message, full=False) >= 0


class Goal(Condition):
    """When the user has what they want: a message says it, and tools were called."""

    called: Phrases = Field(
        default=(), description="The tools that have to be called, in any order."
    )

    @model_validator(mode="after")
    def _asks_for_something(self) -> Goal:
        if not (self.says or self.says_all or self.matches or self.called):
            raise ValueError("a goal needs says, says_all, matches or called")
        return self


def placeholders(text: str) -> list[str]:
    """The names in double braces."""
    return _PLACEHOLDER.findall(text)


def filled(text: str, values: Mapping[str, str]) -> str:
    """A text with its placeholders filled; what is put in is not looked at for further ones.

    >>> filled("It is {{ city }}, not {{other}}.", {"city": "Rome"})
    'It is Rome, not {{other}}.'
    """
    return _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), text)


def _has(words: str, phrase: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(_plain(phrase))}(?!\w)", words) is not None


def _plain(text: str) -> str:
    return " ".join(text.translate(_QUOTES).casefold().split())
