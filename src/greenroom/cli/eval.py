"""`greenroom eval`: a workflow over a test set, scored."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from greenroom.cli import model_options as models
from greenroom.cli.evaluating import Outcome, run_and_report
from greenroom.cli.inspect import Model, Workflow
from greenroom.cli.options import Json

if TYPE_CHECKING:
    from greenroom.evaluation import EvaluationConfig, EvaluationContext
    from greenroom.store import EvaluationRecord, Store


class Treatment(StrEnum):
    """What a workflow can be treated as."""

    chat = "chat"
    completion = "completion"


Gates = Annotated[
    list[str] | None,
    typer.Option(
        "--gate",
        help="What has to hold, such as 'exact_match>=0.9'; else the exit status is 1. May be "
        "given several times.",
        metavar="GATE",
    ),
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Gates look at the plain figures, and not at intervals."),
]
JUnit = Annotated[
    Path | None, typer.Option("--junit", help="Write the results as JUnit XML.", metavar="FILE")
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("eval")(evaluate)


def evaluate(
    workflow: Workflow,
    test_set: Annotated[
        str,
        typer.Argument(
            help="A test set in the store, or a CSV, JSON or JSON Lines file, which is imported.",
            metavar="TESTSET[@VERSION]|FILE",
        ),
    ],
    evaluator: Annotated[
        list[str] | None,
        typer.Option(
            "--evaluator",
            "-e",
            help="How outputs are scored: NAME, NAME:SETTING=VALUE,... or ALIAS=NAME:...; may be "
            "given several times.",
            metavar="EVALUATOR",
        ),
    ] = None,
    repeats: Annotated[int, typer.Option("--repeats", help="How often each row is given.")] = 1,
    rows: Annotated[
        int | None, typer.Option("--rows", help="Only so many rows, the first ones.")
    ] = None,
    max_concurrency: Annotated[
        int, typer.Option("--max-concurrency", help="Calls made at the same time.")
    ] = 10,
    max_retries: Annotated[
        int, typer.Option("--max-retries", help="Further attempts where there is no answer.")
    ] = 2,
    timeout: Annotated[
        float, typer.Option("--timeout", help="Seconds that the workflow has for an answer.")
    ] = 120.0,
    treat_as: Annotated[
        Treatment | None,
        typer.Option(
            "--as",
            help="completion: a chat workflow gets one message, and its text is the output. chat: "
            "the workflow chats, whatever it says of itself.",
        ),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option(
            "--param", help="A parameter of the workflow that differs.", metavar="NAME=VALUE"
        ),
    ] = None,
    model: Model = None,
    message: Annotated[
        str | None,
        typer.Option("--message", help="The column with what the user says.", metavar="COLUMN"),
    ] = None,
    expected: Annotated[
        str | None,
        typer.Option("--expected", help="The column with what is expected.", metavar="COLUMN"),
    ] = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            help="A column that the workflow gets; by default all but the expected output.",
            metavar="COLUMN",
        ),
    ] = None,
    max_turns: Annotated[
        int, typer.Option("--max-turns", help="Turns that a simulated user may talk.")
    ] = 10,
    user_strategy: Annotated[
        str | None,
        typer.Option(
            "--user-strategy",
            help="Who plays the users of rows with a goal: llm, react, verify, reflection, human "
            "or scripted. By default llm with a user model, scripted without.",
        ),
    ] = None,
    user_model: models.UserModel = None,
    user_model_provider: models.UserModelProvider = None,
    user_api_base: models.UserApiBase = None,
    judge_model: Annotated[
        str | None,
        typer.Option("--judge-model", help="The model of evaluators that ask one and name none."),
    ] = None,
    judge_model_provider: Annotated[
        str | None,
        typer.Option("--judge-model-provider", help="The provider of the judge's model."),
    ] = None,
    judge_api_base: Annotated[
        str | None,
        typer.Option("--judge-api-base", help="An OpenAI-compatible server for the judge."),
    ] = None,
    transport: models.TransportName = models.Transport.auto,
    model_timeout: models.ModelTimeout = 120.0,
    model_retries: models.ModelRetries = 3,
    seed: Annotated[int, typer.Option("--seed", help="What chance depends on.")] = 10,
    cache: models.Cache = False,
    prices: models.PricesFile = None,
    max_cost: models.MaxCost = None,
    max_tokens_total: models.MaxTokensTotal = None,
    gate: Gates = None,
    strict: Strict = False,
    junit: JUnit = None,
    name: Annotated[
        str | None,
        typer.Option("--name", help="A name for the evaluation; one is made up otherwise."),
    ] = None,
    json: Json = False,
) -> None:
    """Evaluate a workflow over a test set: call it with every row, and score what it says.

    Every result is stored at once: 'greenroom evals resume' goes on after an interruption. A gate
    fails only if the interval of its figure says so.
    """
    from greenroom.evaluation import check_evaluation_config
    from greenroom.store import open_store

    fields: dict[str, Any] = {
        "workflow": workflow,
        "workflow_model": model,
        "test_set": test_set,
        "evaluators": evaluator or [],
        "treat_as": treat_as.value if treat_as else None,
        "expected": expected,
        "inputs": inputs,
        "said": message,
        "row_limit": rows,
        "repeats": repeats,
        "max_concurrency": max_concurrency,
        "max_retries": max_retries,
        "timeout": timeout,
        "max_turns": max_turns,
        "seed": seed,
        "user_strategy": user_strategy,
        "user_model": user_model,
        "user_model_provider": user_model_provider,
        "user_api_base": user_api_base,
        "judge_model": judge_model,
        "judge_model_provider": judge_model_provider,
        "judge_api_base": judge_api_base,
        "transport": transport.value,
        "model_timeout": model_timeout,
        "model_retries": model_retries,
        "cache": cache,
        "prices": prices,
        "max_cost": max_cost,
        "max_tokens_total": max_tokens_total,
        "gates": gate or [],
        "strict": strict,
    }
    store = open_store()
    evaluation, prepared = _started(store, check_evaluation_config(fields), name, param or [])
    run_and_report(store, evaluation, prepared, Outcome(junit=junit, json=json))


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
        values = parse_pairs("--param", parameters, target.profile.schemas.parameters)
        given = config.model_copy(update={"parameters": values})
        return await start_evaluation(store, given, name=name, target=target)

    return anyio.run(start)
