"""`greenroom conformance`: are our environments Tau Bench's?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from greenroom.cli.options import Json
from greenroom.cli.output import console, print_json
from greenroom.trials.display import progress_bar

app = typer.Typer()


@app.command()
def conformance(
    file: Annotated[Path, typer.Argument(help="Traces as JSON Lines.")],
    data: Annotated[
        str,
        typer.Option(
            "--data", envvar="GREENROOM_DATA", help="The pack that they were recorded on."
        ),
    ],
    json: Json = False,
) -> None:
    """Play traces recorded from Tau Bench and compare everything; exit status 1 if any differs."""
    from greenroom.benchmark.conformance import check_conformance, read_traces

    traces = read_traces(file)
    with progress_bar("Traces", len(traces), shown=not json) as advance:
        report = check_conformance(traces, data, on_trace=lambda: advance(""))
    if json:
        print_json(
            {
                "traces": report.total,
                "matching": report.matching,
                "mismatches": [
                    {"trace": m.line, "what": m.what, "expected": m.expected, "actual": m.actual}
                    for m in report.mismatches
                ],
            }
        )
    else:
        out = console()
        if report.mismatches:
            out.print(f"First difference: {report.mismatches[0]}", soft_wrap=True)
        out.print(f"{report.matching}/{report.total} traces match")
    if report.mismatches:
        raise typer.Exit(1)
