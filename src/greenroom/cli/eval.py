"""`greenroom eval`: a workflow over a test set, scored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from greenroom.cli.config_options import takes
from greenroom.cli.options import By, Json, JUnit, Output
from greenroom.cli.reporting import report_options
from greenroom.cli.worker_options import WorkerOptions
from greenroom.cli.working import run_and_report
from greenroom.evaluation.config import EvaluationConfig

if TYPE_CHECKING:
    from greenroom.evaluation import EvaluationContext
    from greenroom.store import EvaluationRecord, Store


app = typer.Typer()


@app.command("eval")
@takes(EvaluationConfig)
def evaluate(
    fields: dict[str, Any],
    junit: JUnit = None,
    output: Output = None,
    by: By = None,
    name: Annotated[
        str | None,
        typer.Option("--name", help="A name for the evaluation; one is made up otherwise."),
    ] = None,
    *,
    workers: WorkerOptions,
    json: Json = False,
) -> None:
    """Evaluate a workflow over a test set: call it with every row, and score what it says.

    Every result is stored at once: 'greenroom evals resume' goes on after an interruption. A gate
    fails only if the interval of its figure says so.
    """
    from greenroom.evaluation import check_evaluation_config, find_test_set
    from greenroom.reports.build import check_columns
    from greenroom.store import open_store
    from greenroom.trials import remove_if_refused

    wanted = report_options(junit, output, by)
    parameters = fields.pop("parameters", [])
    config = check_evaluation_config(fields)
    store = open_store()
    if wanted.by:
        check_columns(find_test_set(store, config.test_set), wanted.by)
    evaluation, prepared = _started(store, config, name, parameters)
    with remove_if_refused(store.evaluations, evaluation):
        run_and_report(store, evaluation, prepared, wanted, workers=workers, json=json)


def _started(
    store: Store, config: EvaluationConfig, name: str | None, parameters: list[str]
) -> tuple[EvaluationRecord, EvaluationContext]:
    import anyio

    from greenroom.cli.chat_inputs import parse_pairs
    from greenroom.evaluation import open_workflow, start_evaluation

    async def start() -> tuple[EvaluationRecord, EvaluationContext]:
        if not parameters:
            return await start_evaluation(store, config, name=name)
        # The workflow's own schema says what is a number, and what is a text of digits.
        target = await open_workflow(config)
        values = parse_pairs("--parameter", parameters, target.profile.schemas.parameters)
        given = config.model_copy(update={"parameters": values})
        return await start_evaluation(store, given, name=name, target=target)

    return anyio.run(start)
