"""Comparisons of runs and of evaluations: read from the store, and their sections."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from greenroom.analysis import compared, figures
from greenroom.analysis.comparison import (
    EQUAL_WITHIN,
    WORTH_FINDING,
    ComparedRun,
    compare_runs,
    uneven_errors,
)
from greenroom.analysis.counts import counted_episodes
from greenroom.analysis.evaluation_comparison import ComparedEvaluation, compare_evaluations
from greenroom.analysis.judged import JudgedFigures
from greenroom.analysis.verdicts import p_text, points, verdict_in_short
from greenroom.errors import InputError
from greenroom.reports import shared_sections as shared
from greenroom.reports.exclusions import exclusion_words, without_tasks
from greenroom.reports.judge_checks import evaluator_notes, short_words
from greenroom.reports.report import ComparisonReport
from greenroom.reports.run_tally import ComparedTally, compared_run
from greenroom.reports.sections import AnySection, Cell, Row
from greenroom.reports.task_sets import check_same_tasks, only_equal_tasks, place_of
from greenroom.reports.texts import known, money, one_line, percent, plural, wish
from greenroom.reports.users import user_note
from greenroom.store import EvaluationRecord, ResultSummary, RunRecord, Store
from greenroom.store.records import total_cost

_SHOWN_FLIPS = 10
_MOST_KS = 4
_LONGEST_WISH = 100


def compare_stored(
    store: Store,
    jobs: Sequence[RunRecord] | Sequence[EvaluationRecord],
    *,
    convention: figures.ErrorConvention = "errors_excluded",
    detect: float = WORTH_FINDING,
    margin: float = EQUAL_WITHIN,
    reasons: bool = True,
    counted: Callable[[RunRecord], ComparedTally] | None = None,
    equal_tasks: bool = False,
    without: Sequence[int | str] = (),
) -> ComparisonReport:
    """Compare stored runs, or stored evaluations, with the first of them.

    Raises an InputError if they are not of the same tasks or rows; with `equal_tasks`, runs of
    different task sets are compared on the tasks that are equal in all. The tasks `without` are
    left out. `counted` gives what was
    counted of a run before; without it, its episodes are read. Without `reasons`, flipped rows of
    evaluations do not say why they failed, and no result is read in full.
    """
    runs = [without_tasks(job, without) for job in jobs if isinstance(job, RunRecord)]
    evaluations = [job for job in jobs if isinstance(job, EvaluationRecord)]
    if equal_tasks and evaluations:
        raise InputError("Evaluations have rows, not tasks: --equal-tasks is for runs.")
    if without and evaluations:
        raise InputError("Evaluations have rows, not tasks: --exclude-tasks is for runs.")
    equal = only_equal_tasks(runs) if equal_tasks else None
    if runs and equal is None:
        check_same_tasks(runs)
    if evaluations:
        _check_same_rows(store, evaluations)
        found = compare_evaluations(
            [_compared_evaluation(store, one, reasons=reasons) for one in evaluations],
            margin=margin,
        )
        notes = [
            f"Only {percent(side.coverage)} of the planned calls were answered in {side.label}."
            for side in found.evaluations
            if side.coverage < 1
        ]
        notes += evaluator_notes(store, evaluations)
    else:
        if equal is not None:
            runs = list(equal.runs)
            tallies = (
                compared_run(equal.episodes(run, counted_episodes(store, run.id))) for run in runs
            )
        else:
            tallies = (
                counted(run) if counted else compared_run(counted_episodes(store, run.id), run)
                for run in runs
            )
        compared: list[ComparedRun] = []
        judged: dict[str, JudgedFigures] = {}
        for run, tally in zip(runs, tallies, strict=True):
            compared.append(tally.compared(run))
            if verdicts := tally.judged(store, run):
                judged[run.name] = verdicts
        found = compare_runs(compared, convention=convention, detect=detect, margin=margin)
        notes = [
            *(equal.notes if equal else ()),
            *_exclusion_notes(runs),
            *_coverage_notes(compared, found),
            *_judge_notes(judged),
        ]
    notes += user_note(jobs)
    headline = " ".join(one.sentence for one in found.comparisons)
    if equal is not None and equal.notes:
        headline = f"On the {plural(equal.count, 'equal task')} of different sets: {headline}"
    report = ComparisonReport(
        **dict(found),
        name=" and ".join(job.name for job in jobs),
        headline=headline,
        notes=notes,
    )
    sections = [section for build in SECTIONS for section in build(report)]
    return report.model_copy(
        update={"sections": [*sections, shared.provenance_facts(_origins(jobs))]}
    )


def _exclusion_notes(runs: Sequence[RunRecord]) -> Iterator[str]:
    """What is excluded; once where it is the same in all."""
    said = {run.name: " ".join(exclusion_words(run.excluded)) for run in runs}
    if len(set(said.values())) > 1:
        yield from (f"{name}: {one or 'no task is excluded.'}" for name, one in said.items())
    elif runs:
        yield from exclusion_words(runs[0].excluded)


def _judge_notes(judged: Mapping[str, JudgedFigures]) -> Iterator[str]:
    """What of each run a judge decided: rewards with verdicts and without are different figures."""
    if not judged:
        return
    said: list[str] = []
    for label, one in judged.items():
        verdicts, by = one.accepted + one.rejected, f" by {one.judge}" if one.judge else ""
        words = [f"{plural(verdicts, 'sentence')} judged{by}"] if verdicts else []
        words += (
            [f"{plural(one.unjudged, 'sentence')} left out, not judged"] if one.unjudged else []
        )
        said.append(f"{label} has {' and '.join(words)}")
    checks = (
        f"{label}: {short_words(one.check)}"
        for label, one in judged.items()
        if one.judge and one.accepted + one.rejected
    )
    known = "".join(f" {words}." for words in checks)
    yield f"Rewards that need a judge: {'; '.join(said)}.{known}"
    means = (f"{label} {one.reward_without_judge:.3f}" for label, one in judged.items())
    yield f"Mean reward without the judge: {', '.join(means)}."


def _check_same_rows(store: Store, evaluations: Sequence[EvaluationRecord]) -> None:
    """Refuse what was not evaluated on the same rows."""
    versions = [store.test_sets.find(one.test_set_id, one.test_set_version) for one in evaluations]
    for one, version in zip(evaluations[1:], versions[1:], strict=True):
        if version.content_hash != versions[0].content_hash:
            raise InputError(
                f"'{evaluations[0].name}' was evaluated on {versions[0]}, '{one.name}' evaluated "
                f"on {version}: their rows cannot be paired."
            )


def _coverage_notes(runs: Sequence[ComparedRun], comparison: compared.Comparison) -> Iterator[str]:
    """What crashes and episodes without a result mean for the verdicts."""
    for run in runs:
        if crashed := sum(one.outcome == "crashed" for one in run.episodes):
            yield f"{plural(crashed, 'episode')} of {run.label} crashed: they count as failures."
    if all(side.coverage >= 1 for side in comparison.runs):
        yield (
            "Coverage: 100 % in each run, so the verdict is the same with errors left out or "
            "counted as failures."
        )
        return
    shares = (
        f"{side.label} {percent(side.coverage)} ({side.with_result:,} of {side.planned:,} episodes)"
        for side in comparison.runs
    )
    yield f"Coverage: {', '.join(shares)}."
    excluded = comparison.convention == "errors_excluded"
    how = "counted as failures" if excluded else "left out"
    other = compare_runs(
        runs,
        convention="errors_as_failures" if excluded else "errors_excluded",
        detect=comparison.detect,
        margin=comparison.margin,
    )
    for one, otherwise in zip(comparison.comparisons, other.comparisons, strict=True):
        yield f"With episodes without a result {how}: {verdict_in_short(otherwise)}"
        if one.verdict != otherwise.verdict:
            yield (
                f"Whether {one.label} differs from {one.baseline} depends on the episodes without "
                "a result. Play them with `greenroom resume` before you rely on either verdict."
            )
    for run in runs[1:]:
        for one, beside in ((run, runs[0]), (runs[0], run)):
            if (uneven := uneven_errors(one, beside)) is not None:
                there, everywhere = uneven
                yield (
                    f"The episodes without a result of {one.label} are not spread evenly: "
                    f"{beside.label} solves their tasks {percent(there)} of the time, and all "
                    f"tasks {percent(everywhere)}. Leaving them out makes {one.label} look "
                    f"{'better' if there < everywhere else 'worse'} than it is."
                )


def _compared_evaluation(
    store: Store, evaluation: EvaluationRecord, *, reasons: bool
) -> ComparedEvaluation:
    kept = store.evaluations
    results = list(kept.summaries(evaluation.id))
    answered = sum(one.has_result for one in results)
    cost = total_cost(used for one in results if one.has_result for used in one.usage.values())
    if reasons:
        # Of what was used only the sum is needed, and summaries gave it.
        results = [replace(ResultSummary.of(one), usage={}) for one in kept.results(evaluation.id)]
    return ComparedEvaluation(
        label=evaluation.name,
        results=results,
        aliases=[str(spec["alias"]) for spec in evaluation.evaluators],
        planned=evaluation.planned,
        average_cost=None if cost is None else cost / answered,
    )


# Sections


def sides(report: ComparisonReport) -> Iterator[AnySection]:
    """What is compared, each over all of its own tasks or rows: a row for each figure."""
    counts = [(side.pass_tasks, side.tasks, side.episodes) for side in report.runs]
    counts += [({}, side.rows, side.results) for side in report.evaluations]
    found = list(_estimates(report))
    costs = any(side.average_cost is not None for side, _ in found)
    rows: list[list[Cell]] = []
    for (side, estimates), (behind, units, episodes) in zip(found, counts, strict=True):
        cost: Cell = "unknown" if side.average_cost is None else side.average_cost
        for k, (name, estimate) in enumerate(estimates.items(), 1):
            figure = [side.label, name, *shared.estimate_cells(estimate), behind.get(k, units)]
            rows.append([*figure, episodes, known(side.coverage), *([cost] if costs else [])])
    title, *head = ("Runs", "Run", "Tasks:count", "Episodes:count:wide")
    if not report.runs:
        title, *head = ("Evaluations", "Evaluation", "Rows:count", "Answers:count:wide")
    more = (*head[1:], "Coverage:percent", *(["Cost each:money:wide"] if costs else []))
    cautious = [
        f"{name} of {side.label}"
        for side, estimates in found
        for name, estimate in estimates.items()
        if estimate.cautious
    ]
    yield shared.table(
        "sides",
        title,
        (head[0], "Figure", *shared.estimate_columns(["Value"]), *more),
        rows,
        notes=[f"Cautious intervals, near 0 or 1: {', '.join(cautious)}."] if cautious else [],
    )


def _estimates(
    report: ComparisonReport,
) -> Iterator[tuple[compared.Side, Mapping[str, figures.Estimate]]]:
    """pass^k of every run, or the mean scores of every evaluation, by name."""
    for run in report.runs:
        yield run, {f"pass^{k}": e for k, e in sorted(run.pass_hat_k.items()) if k <= _MOST_KS}
    for evaluation in report.evaluations:
        yield evaluation, evaluation.means


def differences(report: ComparisonReport) -> Iterator[AnySection]:
    """How far the figures lie apart over what both have, and how sure that is."""
    rows: list[list[Cell]] = []
    for one in report.comparisons:
        if isinstance(one, compared.RunComparison):
            found = [(f"pass^{k}", d.tasks, d) for k, d in one.differences.items()]
        else:
            found = [(d.alias, d.rows, d) for d in one.evaluators]
        for name, n, d in found:
            apart = shared.estimate_cells(d.difference)
            values = (known(d.baseline), known(d.value))
            rows.append([one.label, name, n, *values, *apart, p_text(d.p_value), known(d.within)])
    # On a narrow console, names and figures come before how many and p, which the headline has.
    units = "Tasks:count:wide" if report.runs else "Rows:count:wide"
    head = ("", "Figure", units, "Before:decimal", "Now:decimal", "Difference:signed")
    tail = ("Interval:signed.2:interval", "p:decimal:wide", "Equal within:decimal:wide")
    yield shared.table(
        "differences",
        f"Against {report.comparisons[0].baseline}",
        (*head, *tail),
        rows,
        notes=list(_difference_notes(report)),
    )


def _difference_notes(report: ComparisonReport) -> Iterator[str]:
    yield f"Intervals hold with {percent(report.confidence)} confidence."
    yield (
        "Equal within: a difference as large as this is ruled out, at the same level. Up to "
        f"{points(report.margin)} count as equal."
    )
    for one in report.comparisons:
        if isinstance(one, compared.RunComparison):
            yield _pairs("trials", "solved", one, one.trials)
        else:
            for evaluator in one.evaluators:
                if evaluator.pairs.both or evaluator.pairs.neither or evaluator.flips:
                    passed = f"passed by {evaluator.alias}"
                    yield _pairs("verdicts", passed, one, evaluator.pairs)
        if one.left_out:
            noun = plural(one.left_out, "task" if report.runs else "row")
            yield f"{noun} could not be compared: only one of the two has results there."
        if one.cost_difference is not None:
            sign = "-" if one.cost_difference < 0 else "+"
            what = "episode" if report.runs else "call"
            yield f"{one.label}: {sign}{money(abs(one.cost_difference))} per {what}."


def _pairs(
    noun: str,
    verb: str,
    one: compared.RunComparison | compared.EvaluationComparison,
    pairs: compared.PairedTrials,
) -> str:
    return (
        f"Paired {noun}: {pairs.only_run} {verb} only in {one.label}, {pairs.only_baseline} only "
        f"in {one.baseline}, {pairs.both} in both, {pairs.neither} in neither (McNemar's exact "
        f"test: {p_text(pairs.p_value)})."
    )


def flips(report: ComparisonReport) -> Iterator[AnySection]:
    """Which tasks or rows broke, and which healed."""
    for one in report.comparisons:
        rows = list(_flipped(one))
        if not rows:
            continue
        broke, healed = (
            len({str(row.cells[0]) for row in rows if row.cells[1] == how})
            for how in ("broke", "healed")
        )
        item, last = ("Task", "What the user wants") if report.runs else ("Row", "Evaluator")
        rates = ("Before:percent", "Now:percent", "Why it failed")
        yield shared.table(
            f"flips-{one.label}",
            f"{one.label}: {broke} broke, {healed} healed",
            (f"{item}:count", "", *rates, f"{last}:text:wide"),
            rows,
            shown=_SHOWN_FLIPS,
            sort=4,
        )


def _flipped(
    one: compared.RunComparison | compared.EvaluationComparison,
) -> Iterator[Row]:
    """The rows of flips, what broke first."""
    if isinstance(one, compared.RunComparison):
        words = {"lost": "broke", "gained": "healed"}
        for flip in sorted(one.flips, key=lambda flip: flip.direction != "lost"):
            how, rates = words[flip.direction], (flip.baseline_rate, flip.rate)
            wanted = one_line(wish(flip.instruction), _LONGEST_WISH)
            yield Row(cells=[flip.task_index, how, *rates, flip.why or "", wanted])
        return
    found = [(flip, d.alias) for d in one.evaluators for flip in d.flips]
    for flip, alias in sorted(found, key=lambda item: item[0].direction != "broke"):
        rates = (flip.baseline_rate, flip.rate)
        yield Row(cells=[flip.row, flip.direction, *rates, flip.why, alias])


def reliability(report: ComparisonReport) -> Iterator[AnySection]:
    """pass^k of every run, or the mean scores of every evaluation, side by side."""
    series = {
        side.label: shared.estimate_points((x, *one) for x, one in enumerate(found.items(), 1))
        for side, found in _estimates(report)
    }
    axes = ("Tries in a row:count", "Tasks solved every time:percent")
    axes = axes if report.runs else ("Evaluator:count", "Mean score:percent")
    yield from shared.chart("reliability", "Side by side", "bars", axes, series)


def cost_against_quality(report: ComparisonReport) -> Iterator[AnySection]:
    """What each costs, against how good it is."""
    series = {
        side.label: shared.estimate_points([(side.average_cost, side.label, best)])
        for side, found in _estimates(report)
        if side.average_cost is not None
        for best in [next(iter(found.values()), None)]
    }
    axes = ("Cost each:money", "pass^1:percent" if report.runs else "Mean score:percent")
    shown = {label: points for label, points in series.items() if points}
    yield from shared.chart("cost-quality", "Cost against quality", "scatter", axes, shown)


def _origins(jobs: Sequence[RunRecord | EvaluationRecord]) -> Iterator[tuple[str, str]]:
    for job in jobs:
        if isinstance(job, RunRecord):
            what = f"{job.agent_strategy} ({job.config.get('model') or 'no model'})"
            on = place_of(job)
        else:
            what, on = job.workflow, f"{job.test_set_name}@{job.test_set_version}"
        seed = job.config.get("seed", "unknown")
        yield job.name, f"{what} on {on}; seed {seed}; Greenroom {job.greenroom_version}"


SECTIONS: tuple[shared.Builder[ComparisonReport], ...] = (
    sides,
    differences,
    flips,
    reliability,
    cost_against_quality,
)
"""The sections in the order in which they are read."""
