"""Running an evaluation at the command line, and what is said afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from greenroom.cli.reporting import Outcome, finish, reported, show
from greenroom.cli.working import Watcher, work

if TYPE_CHECKING:
    from greenroom.evaluation import EvaluationContext
    from greenroom.store import EvaluationRecord, ResultRecord, ResultSummary, Store


def run_and_report(
    store: Store,
    evaluation: EvaluationRecord,
    context: EvaluationContext,
    outcome: Outcome,
    *,
    json: bool = False,
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
        shown=not json and not context.interactive,
    )
    evaluation = store.evaluations.find(evaluation.id)
    report = reported(store, evaluation, outcome)
    show(report, outcome, json=json)
    if not json:
        _say_what_next(evaluation)
    finish(report)


def _score(result: ResultRecord | ResultSummary, alias: str) -> float | None:
    score = result.scores.get(alias)
    return None if score is None else score.score


def _say_what_next(evaluation: EvaluationRecord) -> None:
    name = evaluation.name
    if evaluation.status != "complete":
        typer.echo(f"Some calls gave no answer. Make them again: greenroom evals resume {name}")
    typer.echo(f"Stored as '{name}'. As a page: greenroom evals report {name} -o report.html")
