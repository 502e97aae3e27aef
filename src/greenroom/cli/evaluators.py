"""`greenroom evaluators`: what can score an output."""

from __future__ import annotations

import typer

from greenroom.cli.options import Json
from greenroom.cli.output import console, print_json

app = typer.Typer(help="List the evaluators that score outputs.", no_args_is_help=True)


@app.command("list")
def list_evaluators(json: Json = False) -> None:
    """List the evaluators that --evaluator takes, with their settings."""
    from greenroom.evaluation.evaluators import evaluator_names, load_kind

    kinds = [load_kind(name) for name in evaluator_names()]
    if json:
        print_json(
            [
                {
                    "name": kind.name,
                    "summary": kind.summary,
                    "settings": kind.settings.model_json_schema().get("properties", {}),
                }
                for kind in kinds
            ]
        )
        return
    out = console()
    for kind in kinds:
        out.print(kind.name, style="bold", end=": ")
        out.print(kind.summary)
        for name, setting in kind.settings.model_fields.items():
            out.print(f"    {kind.name}:{name}=...  {setting.description or ''}")
