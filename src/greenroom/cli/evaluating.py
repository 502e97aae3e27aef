"""Running an evaluation at the command line, and what is said afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from greenroom.cli.output import console, print_json
from greenroom.cli.working import Watcher, work
from greenroom.util.files import write_whole

if TYPE_CHECKING:
    from greenroom.evaluation import EvaluationContext, EvaluationReport
    from greenroom.store import EvaluationRecord, ResultRecord, ResultSummary, Store

GATE_FAILED = 1


@dataclass(frozen=True)
class Outcome:
    """What is to become of the result."""

    gates: Sequence[str] | None = None
    """None: those that the evaluation was begun with."""
    strict: bool | None = None
    junit: Path | None = None
    json: bool = False


def run_and_report(
    store: Store, evaluation: EvaluationRecord, context: EvaluationContext, outcome: Outcome
) -> None:
    """Call what is left of an evaluation, then show its report, or say how to go on."""
    from greenroom.evaluation import run_evaluation
    from greenroom.trials import Progress

    alias = str(evaluation.evaluators[0]["alias"])

    async def run(watcher: Watcher) -> None:
        await run_evaluation(
            store, evaluation, context, on_plan=watcher.on_plan, on_result=watcher.on_result
        )

    work(
        store.evaluations,
        evaluation,
        run,
        Progress(alias, (_score(one, alias) for one in store.evaluations.summaries(evaluation.id))),
        lambda result: _score(result, alias),
        noun="calls",
        # A person who plays the user needs the terminal for themselves.
        shown=not outcome.json and not context.interactive,
    )
    report_outcome(store, evaluation.id, outcome)


def _score(result: ResultRecord | ResultSummary, alias: str) -> float | None:
    score = result.scores.get(alias)
    return None if score is None else score.score


def report_outcome(store: Store, name: str, outcome: Outcome) -> None:
    """Show the report of an evaluation and write what was asked for; exit by its gates."""
    from greenroom.evaluation import render_junit
    from greenroom.evaluation.console import print_evaluation
    from greenroom.evaluation.report import report_evaluation, report_facts

    evaluation = store.evaluations.find(name)
    report = report_evaluation(store, evaluation, gates=outcome.gates, strict=outcome.strict)
    if outcome.junit is not None:
        results = store.evaluations.results(evaluation.id)
        write_whole(outcome.junit, render_junit(evaluation, results, report.gates))
    if outcome.json:
        print_json(report_facts(report))
    else:
        print_evaluation(report, console())
        _say_what_next(report)
    if not report.holds:
        raise typer.Exit(GATE_FAILED)


def _say_what_next(report: EvaluationReport) -> None:
    name = report.evaluation.name
    if report.evaluation.status != "complete":
        typer.echo(f"Some calls gave no answer. Make them again: greenroom evals resume {name}")
    typer.echo(f"Stored as '{name}'. One row in full: greenroom evals show {name} --row 1")
