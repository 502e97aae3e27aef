"""The verdict of a comparison, and what it is in one or two plain sentences."""

from __future__ import annotations

from math import isnan

from greenroom.analysis.compared import PairedFigure, RunComparison, Sensitivity, Verdict

_MOST_TRIALS = 200
"""Beyond so many, the estimate is close to "no number of trials does", and moves with every run."""


def verdict_of(found: PairedFigure, p_adjusted: float, margin: float, confidence: float) -> Verdict:
    """A difference is called if the test and the interval both say so, after any correction.

    Without one, the two are equivalent if a difference as large as the margin is ruled out.
    """
    apart = found.difference
    if p_adjusted <= 1 - confidence and not isnan(apart.low):
        if apart.low > 0:
            return "better"
        if apart.high < 0:
            return "worse"
    return "equivalent" if found.within <= margin else "no_difference_shown"


def sentence_of(one: RunComparison) -> str:
    """Say which run is better and how sure that is; or why it cannot be told, and what it takes."""
    sensitivity = one.sensitivity
    if sensitivity is None or one.verdict == "equivalent":
        return verdict_in_short(one)
    if one.verdict != "no_difference_shown":
        small = one.differences[1].within <= one.margin
        remark = f" The difference is less than {points(one.margin)}." if small else ""
        return f"{verdict_in_short(one)}{remark}"
    if one.undone is not None:
        return verdict_in_short(one)
    if sensitivity.power_to_detect >= sensitivity.power:
        return f"{verdict_in_short(one)} {_reach(sensitivity)}"
    said = f"Too few trials to tell {one.label} from {one.baseline}: {_figures(one)}."
    return f"{said} {_needs(sensitivity)}"


def verdict_in_short(one: RunComparison) -> str:
    """Which run is better, or that no difference is shown, with the figures alone."""
    if one.sensitivity is None:
        return f"{one.label} and {one.baseline} have no task in common to be compared on."
    said = verdict_sentence(one.label, one.baseline, one.verdict, _figures(one), one.margin)
    if one.undone is None:
        return said
    alone = "as equal" if one.undone == "equivalent" else f"{one.undone}"
    return (
        f"{said} {one.label} looks {alone} without them, but the {one.broken:,} "
        f"episode{'s' if one.broken > 1 else ''} without a result could undo that: play them with "
        "`greenroom resume`."
    )


def _figures(one: RunComparison) -> str:
    corrected = f", corrected for {one.comparisons} comparisons" if one.comparisons > 1 else ""
    return difference_text("pass^1", one.differences[1], one.p_adjusted, one.confidence, corrected)


def verdict_sentence(
    label: str, baseline: str, verdict: Verdict, figures: str, margin: float
) -> str:
    """Which is better, or that they are equal, or that no difference is shown, with the figures."""
    if verdict == "equivalent":
        return f"{label} and {baseline} are equal within {points(margin)}: {figures}."
    if verdict != "no_difference_shown":
        return f"{label} is {verdict} than {baseline}: {figures}."
    return f"No difference shown between {label} and {baseline}: {figures}."


def points(margin: float) -> str:
    """A margin in points, which are hundredths."""
    number = f"{100 * margin:g}"
    return f"{number} point{'' if number == '1' else 's'}"


def less(value: float | None, baseline: float | None) -> float | None:
    """How much more a value is than the baseline's; None if either is not known."""
    return None if value is None or baseline is None else value - baseline


def difference_text(
    figure: str, found: PairedFigure, p_value: float, confidence: float, remark: str = ""
) -> str:
    """A difference in words: both figures, how far apart they are, and how sure that is."""
    apart = found.difference
    return (
        f"{figure} {found.value:.2f} against {found.baseline:.2f} "
        f"({apart.value:+.2f}, {confidence * 100:g} % interval "
        f"{apart.low:.2f} to {apart.high:.2f}, {p_text(p_value)}{remark})"
    )


def p_text(value: float) -> str:
    return (
        "p < 0.001" if value < 0.001 else f"p = {value:.3f}" if value < 0.1 else f"p = {value:.2f}"
    )


def _reach(sensitivity: Sensitivity) -> str:
    if isnan(sensitivity.detectable):
        return "So few tasks could not have shown any."
    return (
        f"A true difference of {sensitivity.detect:.2g} would have been found with "
        f"{sensitivity.power_to_detect * 100:.0f} % power."
    )


def _needs(sensitivity: Sensitivity) -> str:
    if sensitivity.tasks_needed is None:
        return _reach(sensitivity)
    what = f"about {_round(sensitivity.tasks_needed)} tasks like these"
    trials = sensitivity.trials_needed
    if trials is not None and trials <= _MOST_TRIALS:
        what += f", or about {_round(trials)} trials of each of these tasks"
    elif not sensitivity.more_trials_suffice:
        what += "; more trials of these tasks would not do, since tasks differ too much"
    power = f"{sensitivity.power * 100:.0f} % power"
    return f"{_reach(sensitivity)} For {power} it takes {what}."


def _round(number: int) -> str:
    # Two digits are more than such an estimate deserves; "about 1,437" would claim four.
    digits = max(0, len(str(number)) - 2)
    return f"{-(-number // 10**digits) * 10**digits:,}"
