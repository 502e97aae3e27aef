"""Evaluators of texts: equal, containing, beginning, ending, matching."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from greenroom.evaluation.evaluators.equality import same
from greenroom.evaluation.evaluators.paths import PathText, parse_path
from greenroom.evaluation.evaluators.reading import (
    as_text,
    expected_of,
    expected_words,
    field_of,
    output_of,
    pair_of,
    texts_in,
)
from greenroom.evaluation.evaluators.types import (
    Case,
    EvaluatorKind,
    ExpectingSettings,
    Score,
    Settings,
    Unscored,
    plain_kind,
    verdict,
)
from greenroom.util import patterns
from greenroom.util.raw_json import raw_value


def _listed(value: Any) -> Any:
    # On a command line a list is a text: JSON, or words between commas.
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        return raw_value(value)
    return [word.strip() for word in value.split(",")]


def _not_blank(values: list[str]) -> list[str]:
    if any(not value for value in values):
        raise ValueError("an empty text is in every text")
    return values


def _pattern(text: str | None) -> str | None:
    if text is not None:
        patterns.compiled(text)
    return text


TextList = Annotated[list[str], BeforeValidator(_listed)]
"""A list of texts; as a text, JSON or words between commas."""


class WordingSettings(ExpectingSettings):
    """Which differences of two texts count."""

    ignore_case: bool = Field(default=False, description="Upper and lower case are the same.")
    strip: bool = Field(default=False, description="Blanks at both ends do not count.")

    def prepared(self, text: str) -> str:
        """A text without the differences that are not to count."""
        text = text.strip() if self.strip else text
        return text.casefold() if self.ignore_case else text


class _FieldSettings(Settings):
    field: PathText = Field(
        default="", description="Look at this field of the output only, such as items[0].name."
    )


class TextSettings(WordingSettings, _FieldSettings):
    """What all evaluators of texts have in common."""


class ContainsSettings(TextSettings):
    """Settings of contains."""

    values: Annotated[TextList, AfterValidator(_not_blank)] | None = Field(
        default=None, description="The texts to look for; by default the expected output."
    )
    mode: Literal["all", "any"] = Field(
        default="all", description="Whether all of them have to be there, or any one."
    )


class EdgeSettings(TextSettings):
    """Settings of starts_with and ends_with."""

    value: str | None = Field(
        default=None,
        min_length=1,
        description="The text to look for; by default the expected output.",
    )


class RegexSettings(TextSettings):
    """Settings of regex."""

    pattern: Annotated[str | None, AfterValidator(_pattern)] = Field(
        default=None, description="The regular expression; by default the expected output is it."
    )
    full: bool = Field(default=False, description="The whole text has to match, not a part of it.")


def text_output(settings: TextSettings, case: Case) -> str:
    """The text that an evaluator of texts looks at."""
    output = output_of(case)
    if settings.field:
        output = field_of(output, parse_path(settings.field))
    return as_text(output, "output")


def _equals(settings: TextSettings, case: Case) -> Score:
    compared, against = pair_of(case, settings.field)
    if isinstance(compared, str) and isinstance(against, str):
        equal = settings.prepared(compared) == settings.prepared(against)
    else:
        equal = same(compared, against)
    return verdict(equal, compared, against, "equal" if equal else _difference(compared, against))


def _difference(compared: Any, against: Any) -> str:
    if not isinstance(compared, str) or not isinstance(against, str):
        return "not equal"
    if not compared:
        return "nothing was said"
    if compared.strip() == against.strip():
        return "only blanks at the ends differ: strip=true ignores them"
    place = next(
        (n for n, (a, b) in enumerate(zip(compared, against, strict=False)) if a != b),
        min(len(compared), len(against)),
    )
    return f"not equal from character {place + 1} on"


def _contains(settings: ContainsSettings, case: Case) -> Score:
    compared = text_output(settings, case)
    values = settings.values if settings.values is not None else texts_in(expected_of(case))
    if not values:
        raise Unscored("the expected output names no texts", compared=compared, against=values)
    text = settings.prepared(compared)
    missing = [value for value in values if settings.prepared(value) not in text]
    passed = not missing if settings.mode == "all" else len(missing) < len(values)
    if not missing:
        reason = "it is there" if len(values) == 1 else "all are there"
    else:
        reason = "missing: " + ", ".join(repr(value) for value in missing[:3])
    return verdict(passed, compared, values, reason)


def _edge(settings: EdgeSettings, case: Case, *, start: bool) -> Score:
    compared = text_output(settings, case)
    value = settings.value
    against = value if value is not None else expected_words(expected_of(case))
    text, wanted = settings.prepared(compared), settings.prepared(against)
    passed = text.startswith(wanted) if start else text.endswith(wanted)
    where = "begins" if start else "ends"
    return verdict(passed, compared, against, f"it {where} {'so' if passed else 'otherwise'}")


@dataclass(frozen=True)
class _RegexScorer:
    settings: RegexSettings

    async def evaluate(self, case: Case) -> Score:
        return await _matches(self.settings, case)

    async def close(self) -> None:
        """End the processes that match."""
        patterns.end_idle_workers()


async def _matches(settings: RegexSettings, case: Case) -> Score:
    compared = text_output(settings, case)
    pattern = settings.pattern
    if pattern is None:
        pattern = expected_words(expected_of(case))
    text = compared.strip() if settings.strip else compared
    try:
        compiled = patterns.compiled(pattern, ignore_case=settings.ignore_case)
        start = await patterns.match_start(compiled, text, full=settings.full)
    except ValueError as error:
        reason = f"the expected output {error}"
        raise Unscored(reason, compared=compared, against=pattern) from error
    except TimeoutError:
        reason = f"the pattern needs more than {patterns.MATCH_SECONDS:g} seconds for this text"
        raise Unscored(reason, compared=compared, against=pattern) from None
    reason = "no match" if start < 0 else f"matches at character {start + 1}"
    return verdict(start >= 0, compared, pattern, reason)


exact_match = plain_kind("exact_match", _equals, TextSettings, "the output is the expected one")
contains = plain_kind("contains", _contains, ContainsSettings, "texts are in the output")
starts_with = plain_kind(
    "starts_with", partial(_edge, start=True), EdgeSettings, "the output begins with a text"
)
ends_with = plain_kind(
    "ends_with", partial(_edge, start=False), EdgeSettings, "the output ends with a text"
)
regex = EvaluatorKind(
    "regex",
    lambda settings, _: _RegexScorer(settings),
    RegexSettings,
    "a regular expression matches the output",
    by_rows=True,
)
