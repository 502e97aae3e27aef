"""What reports of runs say in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from greenroom.analysis.figures import RunMetrics
from greenroom.analysis.judged import JudgedFigures
from greenroom.reports import texts
from greenroom.reports.exclusions import exclusion_words
from greenroom.reports.judge_checks import check_words, short_words
from greenroom.reports.report import RunData
from greenroom.reports.texts import one_line, percent, plural

_LONGEST: Final = 120
TIMES: Final = {2: "twice in a row", 3: "three times in a row", 4: "four times in a row"}


def agent_label(report: RunData) -> str:
    """The agent's strategy, with its model where the configuration names one."""
    model = report.run.config.get("model")
    strategy = report.run.agent_strategy
    return f"{strategy} ({model})" if isinstance(model, str) and model else strategy


def pack_label(report: RunData) -> str:
    """The pack's name, version and licence."""
    pack = report.run.pack
    name = " ".join(str(pack[key]) for key in ("name", "version") if pack.get(key))
    licence = f"licence: {pack['licence']}" if pack.get("licence") else ""
    return "; ".join(part for part in (name, licence) if part) or "unknown"


def headline(report: RunData) -> str:
    """The result in one sentence. A figure from a subset of the tasks never stands here."""
    metrics = report.metrics
    if metrics.with_result == 0:
        if metrics.errors:
            ended = "the only one" if metrics.errors == 1 else f"all {metrics.errors:,}"
            return f"No episode has a result: {ended} ended in an infrastructure error."
        return "Nothing has been played yet."
    main, solved = metrics.main, metrics.outcomes.get("success", 0)
    if main.tasks == 1 == len(metrics.tasks):
        return f"Solved the only task in {solved} of {plural(metrics.with_result, 'trial')}."
    without = len(metrics.tasks) - main.tasks
    if without:
        found = f"Solved {solved:,} of {plural(metrics.with_result, 'episode')} with a result"
        return f"{found}; {plural(without, 'task')} of {len(metrics.tasks):,} without any."
    start = f"Solved {percent(main.pass_hat_k[1].value)} of the tasks in one try"
    whole = [k for k in main.pass_hat_k if k in TIMES and not is_partial(metrics, k)]
    if not whole:
        return f"{start}."
    most = max(whole)
    return f"{start}, and {percent(main.pass_hat_k[most].value)} {TIMES[most]}."


def is_partial(metrics: RunMetrics, k: int) -> bool:
    """Whether pass^k stands on fewer tasks than the run has."""
    return metrics.main.pass_tasks.get(k, len(metrics.tasks)) < len(metrics.tasks)


def notes(report: RunData) -> list[str]:
    """What has to be known beside the headline; empty where there is nothing to add."""
    metrics, caveats = report.metrics, report.run.pack.get("caveats", ())
    said = [*map(str, caveats), *report.run.warnings, *_reservations(report)]
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
            f"failures makes a difference, it is shown.{_leaderboards_convention(report)}"
        )
    if report.pruned:
        said.append(
            f"{plural(report.pruned, 'conversation')} {'was' if report.pruned == 1 else 'were'} "
            "pruned: figures and failures are as they were, but what was said is gone."
        )
    if report.judged is not None and report.judged.unjudged:
        count = report.judged.unjudged
        said.append(
            f"{plural(count, 'sentence')} that the reward depends on "
            f"{'was' if count == 1 else 'were'} not judged, in "
            f"{plural(report.judged.unjudged_episodes, 'episode')}: the rewards leave "
            f"{'it' if count == 1 else 'them'} out."
        )
    if crashed := metrics.outcomes.get("crashed", 0):
        text, count = max(report.crashes.items(), key=lambda one: one[1], default=("", crashed))
        most = f", {count:,} of them by" if count < crashed else " by"
        said.append(
            f"{plural(crashed, 'episode')} of {metrics.with_result:,} crashed in the agent's own "
            f"code{most} {one_line(text or 'an error', _LONGEST)}. Crashes count as "
            "failures."
        )
    if written := report.errors.by_kind.get("call_as_text"):
        said.append(
            f"In {plural(written, 'episode')} the agent wrote a tool call as text: the server of "
            "its model, or the chat template, may not support tools. Try --agent-strategy act, "
            "react or structured, or --agent-option execute_text_calls=true."
        )
    if report.identical_tasks and not report.run.reads_script:
        said.append(
            f"All trials of {plural(report.identical_tasks, 'task')} of {len(metrics.tasks):,} are "
            "the same, step by step. Repeating them adds nothing, so pass^2 and higher do not tell "
            "how reliable the agent is."
        )
    if metrics.with_result and max(metrics.main.pass_hat_k, default=0) == 1:
        said.append(
            "Each task was tried once, so nothing can be said about how reliably it is solved."
        )
    if metrics.duplicates:
        said.append(f"{plural(metrics.duplicates, 'duplicate row')} not counted.")
    return said


def _reservations(report: RunData) -> Iterator[str]:
    """What is left out, and a judge that is marked."""
    yield from exclusion_words(report.run.excluded)
    check = None if report.judged is None else report.judged.check
    if check is not None and check.flaws:
        yield f"The judge of this run: {short_words(check)}."


def _leaderboards_convention(report: RunData) -> str:
    if report.run.pack.get("edition") != "tau2":
        return ""
    return " tau2-bench's leaderboard leaves them out."


def judge_notes(found: JudgedFigures) -> Iterator[str]:
    """What a judge said, counted."""
    by = f"judged by {found.judge}" if found.judge else "without a judge"
    yield (
        f"{plural(found.accepted + found.rejected + found.unjudged, 'sentence')} of "
        f"{plural(found.episodes, 'episode')}, {by}: {found.accepted:,} accepted, "
        f"{found.rejected:,} rejected, {found.unjudged:,} not judged."
    )
    if found.judge:
        yield from check_words(found.check, f"statements --judge-model {found.judge}")
    for reason, count in found.reasons.items():
        yield f"Not judged, {count:,} times: {one_line(reason, _LONGEST)}"


def interval_note(report: RunData) -> str:
    """What the ranges mean, in one line; empty where there are none."""
    main = report.metrics.main
    if all(estimate.method == "none" for estimate in main.pass_hat_k.values()):
        return ""
    truth = (
        "the agent's true chance at this task"
        if main.tasks == 1
        else "what the agent would reach over all tasks of this kind"
    )
    shown = (*main.pass_hat_k.values(), main.average_reward, main.overall_score)
    cautious = any(estimate.cautious for estimate in shown)
    return texts.interval_note(report.metrics.confidence, truth, cautious=cautious)


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
