"""Scores that others give: a function's return value, the JSON of a server."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, cast

from greenroom.errors import redacted
from greenroom.evaluation.evaluators.types import Score

_LONGEST_REASON = 2_000


class NoScore(ValueError):
    """What was returned is no score; the text says why."""


def read_score(value: Any, *, compared: Any, against: Any, threshold: float | None) -> Score:
    """A score from a truth, a number from 0 to 1, None, or an object with `score`.

    The object may also have `passed`, `reason`, `compared` and `against`. Where nobody says
    whether it is passed, the threshold does.
    """
    if isinstance(value, Score):
        return value
    fields: Mapping[str, Any] = {"score": value}
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, Any]", value)
        if "score" not in fields and "passed" not in fields:
            raise NoScore("it returned an object without 'score'")
    score = _number(fields.get("score", fields.get("passed")))
    passed = fields.get("passed")
    if passed is None and score is not None and threshold is not None:
        passed = score >= threshold
    if passed is not None and not isinstance(passed, bool):
        raise NoScore(f"it returned {passed!r} for 'passed', which is true, false or null")
    reason = fields.get("reason")
    return Score(
        score,
        passed,
        fields.get("compared", compared),
        fields.get("against", against),
        redacted(str(reason))[:_LONGEST_REASON] if reason is not None else "",
    )


def _number(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return 1.0 if value else 0.0
    try:
        # numpy's numbers and Decimal are numbers too; texts are not.
        number = float("nope") if isinstance(value, str) else float(value)
    except (TypeError, ValueError) as error:
        raise NoScore(f"it returned {value!r}, which is no score") from error
    if math.isnan(number):
        return None
    if not 0 <= number <= 1:
        raise NoScore(f"it returned {number:g}: a score is a number from 0 to 1")
    return number
