"""Evaluators of likeness: letters and words, each from 0 to 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from pydantic import Field
from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from greenroom.evaluation.evaluators.reading import as_text, pair_of
from greenroom.evaluation.evaluators.text import TextSettings
from greenroom.evaluation.evaluators.types import Case, Score, plain_kind


class LikenessSettings(TextSettings):
    """What all evaluators of likeness have in common."""

    threshold: float = Field(default=0.8, ge=0, le=1, description="Passed from this score on.")


class SimilaritySettings(LikenessSettings):
    """Settings of similarity."""

    method: Literal["ratio", "token_set"] = Field(
        default="ratio",
        description="ratio: letters in their order; token_set: words in any order, where those "
        "that only one side has count little.",
    )


def likeness(settings: LikenessSettings, case: Case, measure: Callable[[str, str], float]) -> Score:
    """The score of a case by a measure of two texts."""
    output, expected = pair_of(case, settings.field)
    compared, against = as_text(output, "output"), as_text(expected, "expected output")
    found = measure(settings.prepared(compared), settings.prepared(against))
    found = min(max(found, 0.0), 1.0)  # rounding must not leave the range
    reason = f"{found:.3f}, passed from {settings.threshold:g} on"
    return Score(found, found >= settings.threshold, compared, against, reason)


def _levenshtein(settings: LikenessSettings, case: Case) -> Score:
    return likeness(settings, case, Levenshtein.normalized_similarity)


def _similarity(settings: SimilaritySettings, case: Case) -> Score:
    compare = fuzz.ratio if settings.method == "ratio" else fuzz.token_set_ratio

    def measure(one: str, other: str) -> float:
        return 1.0 if one == other else compare(one, other) / 100

    return likeness(settings, case, measure)


levenshtein = plain_kind(
    "levenshtein", _levenshtein, LikenessSettings, "how few letters have to change"
)
similarity = plain_kind(
    "similarity", _similarity, SimilaritySettings, "how much of the wording is the same"
)
