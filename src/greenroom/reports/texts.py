"""What reports say in words, so that every format says the same."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime

    from greenroom.analysis.figures import Estimate, RunMetrics, TaskFigures
    from greenroom.reports.report import Report

NOTHING: Final = "–"
"""Stands for a figure that there is none of."""


class OutcomeWords(NamedTuple):
    """How an outcome is named, marked and explained."""

    label: str
    symbol: str
    plain_symbol: str
    """For places that know ASCII only."""
    meaning: str


OUTCOMES: Final[dict[str, OutcomeWords]] = {
    "success": OutcomeWords("Solved", "✓", "+", "the conversation ended with reward 1"),
    "failure": OutcomeWords("Not solved", "×", "x", "the conversation ended with less"),
    "max_steps": OutcomeWords("Out of steps", "S", "S", "it did not end within its steps"),
    "max_time": OutcomeWords("Out of time", "T", "T", "it did not end within its time"),
    "invalid": OutcomeWords("No further action", "?", "?", "the agent stopped acting"),
    "context_window": OutcomeWords(
        "Too long", "L", "L", "the conversation no longer fitted the model"
    ),
    "content_filter": OutcomeWords("Filtered", "F", "F", "the model's provider declined to answer"),
    "infrastructure_error": OutcomeWords(
        "Infrastructure error", "!", "!", "something other than the agent broke: no reward"
    ),
    "missing": OutcomeWords("Not played", "·", ".", "planned, but not played"),
}

KINDS: Final[dict[str, tuple[str, str]]] = {
    "wrong_tool": ("Wrong tool", "called another tool than the one that was needed"),
    "wrong_arguments": ("Wrong arguments", "called the right tool with other arguments"),
    "missing_write": ("Change not made", "did not make a change that was needed"),
    "extra_write": ("Change too many", "made a change that was not asked for"),
    "outputs_missing": ("Answer not given", "did not tell the user what they had to hear"),
    "max_steps": ("Out of steps", "did not come to an end within its steps"),
    "max_time": ("Out of time", "did not come to an end within its time"),
    "model_limit": ("Model's limit", "the model could not or would not answer any more"),
    "invalid_action": ("Invalid action", "did what cannot be done, or nothing more"),
    "user_ended_early": ("User left early", "the user ended the conversation before it was done"),
    "infrastructure": ("Infrastructure error", "something other than the agent broke"),
    "other": ("Other", "none of the above"),
}

TIMES: Final = {2: "twice in a row", 3: "three times in a row", 4: "four times in a row"}
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def outcome_words(outcome: str) -> OutcomeWords:
    """The words for an outcome; one that is not known is shown under its own name."""
    return OUTCOMES.get(outcome) or OutcomeWords(outcome, "#", "#", "")


def kind_words(kind: str) -> tuple[str, str]:
    """The label and the meaning of a kind of failure."""
    return KINDS.get(kind) or (kind, "")


def one_line(text: str, limit: int | None = None) -> str:
    """Text from data as one line without control characters, shortened to the limit."""
    line = " ".join(_CONTROLS.sub(" ", text).split())
    if limit is not None and len(line) > limit:
        return line[: max(1, limit - 1)].rstrip() + "…"
    return line


def percent(value: float, digits: int = 0) -> str:
    """A share in per cent; what is neither none nor all is never rounded to it."""
    if not math.isfinite(value):
        return NOTHING
    for more in range(digits, digits + 4):
        number = f"{100 * value:.{more}f}"
        if value in (0, 1) or float(number) not in (0, 100):
            return f"{number} %"
    return f"{100 * value:.{digits}f} %"


def decimal(value: float, digits: int = 3) -> str:
    """A number with that many decimals."""
    return f"{value:.{digits}f}" if math.isfinite(value) else NOTHING


def money(value: float) -> str:
    """US dollars; small amounts with more decimals."""
    return f"${value:,.2f}" if abs(value) >= 1 or value == 0 else f"${value:.4f}"


def duration(seconds: float) -> str:
    """A time span as people say it."""
    if not math.isfinite(seconds):
        return NOTHING
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"


def date_text(moment: datetime) -> str:
    """A day and a time, with the zone where it is known."""
    zone = moment.tzname() or ""
    return f"{moment.day} {moment:%B %Y, %H:%M} {zone}".strip()


def plural(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun: 1 task, 2 tasks."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def interval(estimate: Estimate, *, as_percent: bool = False, digits: int = 3) -> str | None:
    """An estimate's interval, or None where there is none."""
    if not (math.isfinite(estimate.low) and math.isfinite(estimate.high)):
        return None
    if as_percent:
        return f"{100 * estimate.low:.1f} to {100 * estimate.high:.1f} %"
    return f"{estimate.low:.{digits}f} to {estimate.high:.{digits}f}"


def agent_label(report: Report) -> str:
    """The agent's strategy, with its model where the configuration names one."""
    model = report.run.config.get("model")
    strategy = report.run.agent_strategy
    return f"{strategy} ({model})" if isinstance(model, str) and model else strategy


def pack_label(report: Report) -> str:
    """The pack's name, version and licence."""
    pack = report.run.pack
    name = " ".join(str(pack[key]) for key in ("name", "version") if pack.get(key))
    licence = f"licence: {pack['licence']}" if pack.get("licence") else ""
    return "; ".join(part for part in (name, licence) if part) or "unknown"


def headline(report: Report) -> str:
    """The result in one sentence."""
    metrics = report.metrics
    if metrics.with_result == 0:
        if metrics.errors:
            ended = "the only one" if metrics.errors == 1 else f"all {metrics.errors:,}"
            return f"No episode has a result: {ended} ended in an infrastructure error."
        return "Nothing has been played yet."
    main = metrics.main
    if main.tasks == 1:
        solved = metrics.outcomes.get("success", 0)
        return f"Solved the only task in {solved} of {plural(metrics.with_result, 'trial')}."
    first = main.pass_hat_k.get(1)
    start = f"Solved {percent(first.value if first else math.nan)} of the tasks in one try"
    most = max((k for k in main.pass_hat_k if k in TIMES), default=0)
    if not most:
        return f"{start}."
    return f"{start}, and {percent(main.pass_hat_k[most].value)} {TIMES[most]}."


def notes(report: Report) -> list[str]:
    """What has to be known beside the headline; empty where there is nothing to add."""
    metrics, said = report.metrics, list[str]()
    if metrics.missing:
        why = {"running": "the run is still going on", "interrupted": "the run was interrupted"}
        reason = why.get(report.run.status)
        said.append(
            f"{plural(metrics.missing, 'episode')} of {metrics.planned:,} planned "
            f"{'has' if metrics.missing == 1 else 'have'} not been played"
            + (f": {reason}." if reason else ".")
        )
    if metrics.errors and metrics.with_result:
        said.append(
            f"{plural(metrics.errors, 'episode')} ended in an infrastructure error. That is not "
            "the agent's doing, so the figures leave such episodes out; where counting them as "
            "failures makes a difference, it is shown."
        )
    if metrics.with_result and max(metrics.main.pass_hat_k, default=0) == 1:
        said.append(
            "Each task was tried once, so nothing can be said about how reliably it is solved."
        )
    if metrics.duplicates:
        said.append(f"{plural(metrics.duplicates, 'duplicate row')} not counted.")
    return said


def interval_note(report: Report) -> str:
    """What the ranges mean, in one line; empty where there are none."""
    main = report.metrics.main
    if all(estimate.method == "none" for estimate in main.pass_hat_k.values()):
        return ""
    level = f"{100 * report.metrics.confidence:g}"
    truth = (
        "the agent's true chance at this task"
        if main.tasks == 1
        else ("what the agent would reach over all tasks of this kind")
    )
    return (
        f"The range beside a figure is its {level} % interval: of 100 such ranges, {level} hold "
        f"{truth}."
    )


def conventions_differ(metrics: RunMetrics) -> bool:
    """Whether it makes a difference what becomes of episodes without a result."""
    other = metrics.conventions.get("errors_as_failures")
    if other is None:
        return False
    main = metrics.main.pass_hat_k
    return main.keys() != other.pass_hat_k.keys() or any(
        not _same(main[k].value, other.pass_hat_k[k].value) for k in main
    )


def without_result(metrics: RunMetrics) -> str:
    """What the two conventions are about in this run: errors, missing trials, or both."""
    parts = [("errors", metrics.errors), ("missing trials", metrics.missing)]
    return " and ".join(words for words, count in parts if count) or "errors"


def convention_label(metrics: RunMetrics, convention: str) -> str:
    """A convention in words."""
    what = without_result(metrics)
    return f"{what} left out" if convention == "errors_excluded" else f"{what} count as failures"


def _same(left: float, right: float) -> bool:
    return (math.isnan(left) and math.isnan(right)) or math.isclose(left, right, abs_tol=1e-9)


def task_cost(figures: TaskFigures) -> str:
    """What a task's episodes cost, where that is known."""
    return NOTHING if figures.cost is None else money(figures.cost)
