"""Running an evaluation at the command line: progress, Ctrl-C, gates and what to say afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from greenroom.cli.output import console, print_json, progress
from greenroom.cli.playing import OUT_OF_BUDGET
from greenroom.util.files import write_whole

if TYPE_CHECKING:
    from greenroom.evaluation import EvaluationReport, PreparedEvaluation
    from greenroom.evaluation.parties import Parties
    from greenroom.store import EvaluationRecord, ResultRecord, Store

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
    store: Store, evaluation: EvaluationRecord, prepared: PreparedEvaluation, outcome: Outcome
) -> None:
    """Call what is left of an evaluation, then show its report, or say how to go on."""
    import anyio

    from greenroom.evaluation import run_evaluation
    from greenroom.models import BudgetExhausted

    standing = Standing(store, evaluation)
    left = evaluation.planned - len(store.evaluations.finished(evaluation.id))
    again = f"greenroom evals resume {evaluation.name}"
    try:
        # A person who plays the user needs the terminal for themselves.
        shown = not outcome.json and not prepared.interactive
        with progress(evaluation.name, left, shown=shown) as advance:

            def note(record: ResultRecord) -> None:
                standing.add(record)
                advance(str(standing))

            anyio.run(
                lambda: run_evaluation(
                    store, evaluation, prepared, on_result=note, on_parties=standing.meet
                )
            )
    except KeyboardInterrupt:
        _say_how_to_go_on(store, evaluation, "Stopped", again)
        raise typer.Exit(130) from None
    except BudgetExhausted as spent:
        again += " --max-cost ... (or --max-tokens-total ...)"
        _say_how_to_go_on(store, evaluation, str(spent).rstrip("."), again)
        raise typer.Exit(OUT_OF_BUDGET) from None
    report_outcome(store, evaluation.id, outcome)


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


class Standing:
    """How an evaluation stands while it is run, in a line: scores so far, errors, money."""

    def __init__(self, store: Store, evaluation: EvaluationRecord) -> None:
        self._alias = str(evaluation.evaluators[0]["alias"])
        self._sum, self._scored, self._errors = 0.0, 0, 0
        self._parties: Parties | None = None
        for summary in store.evaluations.summaries(evaluation.id):
            if summary.outcome == "ok":
                self._count(summary.scores.get(self._alias))

    def add(self, record: ResultRecord) -> None:
        """Count a result; an error says nothing about the scores."""
        if record.outcome == "ok":
            self._count(record.scores.get(self._alias))
        else:
            self._errors += 1

    def meet(self, parties: Parties) -> None:
        """Get to know who spends."""
        self._parties = parties

    def _count(self, score: Any) -> None:
        if score is not None and score.score is not None:
            self._sum += score.score
            self._scored += 1

    def __str__(self) -> str:
        parts = [f"{self._alias} {self._sum / self._scored:.2f}"] if self._scored else []
        if self._errors:
            parts.append(f"{self._errors} error{'s' if self._errors > 1 else ''}")
        if self._parties is not None and self._parties.budget.cost:
            parts.append(f"${self._parties.budget.cost:.2f}")
        return ", ".join(parts)


def _say_how_to_go_on(store: Store, evaluation: EvaluationRecord, why: str, command: str) -> None:
    kept = len(store.evaluations.finished(evaluation.id))
    typer.echo(
        f"\n{why}: {kept} of {evaluation.planned} calls are answered and stored. Go on with: "
        f"{command}",
        err=True,
    )


def _say_what_next(report: EvaluationReport) -> None:
    name = report.evaluation.name
    if report.evaluation.status != "complete":
        typer.echo(f"Some calls gave no answer. Make them again: greenroom evals resume {name}")
    typer.echo(f"Stored as '{name}'. One row in full: greenroom evals show {name} --row 1")
