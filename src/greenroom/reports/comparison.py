"""Comparisons of runs, in words: for the console, and as Markdown for a pull request."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from greenroom.analysis.comparison import ComparedRun, compare_runs
from greenroom.analysis.comparison_figures import Comparison, FlippedTask, RunComparison, RunSide
from greenroom.analysis.errors import diagnose
from greenroom.analysis.figures import ErrorConvention, Estimate
from greenroom.store import RunRecord, Store

if TYPE_CHECKING:
    from rich.console import Console

_SHOWN_FLIPS = 10


def build_comparison(
    store: Store, runs: list[RunRecord], *, convention: ErrorConvention = "errors_excluded"
) -> Comparison:
    """Compare stored runs with the first of them."""
    return compare_runs([_compared(store, run) for run in runs], convention=convention)


def _compared(store: Store, run: RunRecord) -> ComparedRun:
    reasons: dict[int, str] = {}
    episodes = list(store.runs.results(run.id))
    for episode in episodes:
        diagnosis = diagnose(episode)
        if diagnosis is not None:
            reasons.setdefault(episode.task_index, diagnosis.explanation)
    return ComparedRun(
        label=run.name,
        episodes=episodes,
        task_indices=run.task_indices,
        num_trials=run.num_trials,
        over=run.status != "running",
        reasons=reasons,
    )


def print_comparison(comparison: Comparison, console: Console) -> None:
    """Show a comparison on the console, the sentences first."""
    from rich import box
    from rich.table import Table

    for compared in comparison.comparisons:
        console.print(compared.sentence, markup=False)
    table = Table(box=box.SIMPLE)
    for heading in _headings(comparison):
        table.add_column(heading, justify="left" if heading == "Run" else "right")
    for side in comparison.runs:
        table.add_row(*_cells(side, comparison, intervals=False))
    console.print(table)
    for compared in comparison.comparisons:
        console.print(f"{compared.label} against {compared.baseline}", style="bold", markup=False)
        for line in _notes(compared):
            console.print(f"  {line}", markup=False, soft_wrap=True)


def comparison_markdown(comparison: Comparison) -> str:
    """A comparison as Markdown: the sentences, the figures, and what flipped."""
    lines = [f"**{compared.sentence}**\n" for compared in comparison.comparisons]
    headings = _headings(comparison)
    lines.append(f"| {' | '.join(headings)} |")
    lines.append(f"| --- |{' ---: |' * (len(headings) - 1)}")
    lines.extend(
        f"| {' | '.join(_escaped(cell) for cell in _cells(side, comparison, intervals=True))} |"
        for side in comparison.runs
    )
    lines.append("")
    lines.append(f"Intervals hold with {comparison.confidence:.0%} confidence.")
    for compared in comparison.comparisons:
        lines.append(f"\n<details><summary>{_escaped(compared.label)} in detail</summary>\n")
        lines.extend(f"- {_escaped(line)}" for line in _notes(compared))
        lines.append("\n</details>")
    return "\n".join(lines) + "\n"


def _headings(comparison: Comparison) -> list[str]:
    figures = [f"pass^{k}" for k in _ks(comparison)]
    return ["Run", "Tasks", "Episodes", *figures, *(["Cost each"] if _has_cost(comparison) else [])]


def _has_cost(comparison: Comparison) -> bool:
    return any(side.average_cost is not None for side in comparison.runs)


def _ks(comparison: Comparison) -> list[int]:
    return sorted({k for side in comparison.runs for k in side.pass_hat_k if k <= 4})


def _cells(side: RunSide, comparison: Comparison, *, intervals: bool) -> list[str]:
    figures = [_figure(side.pass_hat_k.get(k), intervals=intervals) for k in _ks(comparison)]
    cost = "unknown" if side.average_cost is None else f"${side.average_cost:.4f}"
    costs = [cost] if _has_cost(comparison) else []
    return [side.label, str(side.tasks), str(side.episodes), *figures, *costs]


def _figure(estimate: Estimate | None, *, intervals: bool) -> str:
    if estimate is None or isnan(estimate.value):
        return "–"
    if isnan(estimate.low) or not intervals:
        return f"{estimate.value:.3f}"
    return f"{estimate.value:.3f} ({estimate.low:.2f}–{estimate.high:.2f})"


def _notes(compared: RunComparison) -> list[str]:
    before, now = compared.baseline, compared.label
    notes = [
        f"pass^{k}: {before} {d.baseline:.3f}, {now} {d.value:.3f}, difference "
        f"{d.difference.value:+.3f} ({d.difference.low:+.3f} to {d.difference.high:+.3f}), "
        f"{_p_value(d.p_value)}, {d.tasks} tasks"
        for k, d in compared.differences.items()
    ]
    trials = compared.trials
    notes.append(
        f"Paired trials: {trials.only_run} solved only by {now}, {trials.only_baseline} only by "
        f"{before}, {trials.both} by both, {trials.neither} by neither (McNemar's exact test: "
        f"{_p_value(trials.p_value)})"
    )
    if compared.left_out:
        notes.append(f"{compared.left_out} tasks could not be compared: one of the two lacks them")
    notes.extend(_flip(flip, before, now) for flip in compared.flips[:_SHOWN_FLIPS])
    hidden = len(compared.flips) - _SHOWN_FLIPS
    if hidden > 0:
        notes.append(f"... and {hidden} more tasks flipped")
    if compared.cost_difference is not None:
        notes.append(f"Cost per episode: {compared.cost_difference:+.4f} US dollars")
    return notes


def _flip(flip: FlippedTask, before: str, now: str) -> str:
    failed = before if flip.direction == "gained" else now
    why = f"; {failed}: {flip.why}" if flip.why else ""
    return (
        f"Task {flip.task_index} {flip.direction} "
        f"({before} {flip.baseline_rate:.0%} of {flip.baseline_trials} trials, "
        f"{now} {flip.rate:.0%} of {flip.trials}){why}"
    )


def _p_value(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
