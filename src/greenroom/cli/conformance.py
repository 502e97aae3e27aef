"""`greenroom conformance`: are our environments those of the originals?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from greenroom.cli.options import Json
from greenroom.cli.output import console, print_json
from greenroom.errors import InputError
from greenroom.trials.display import progress_bar

if TYPE_CHECKING:
    from greenroom.benchmark.conformance import ConformanceReport

app = typer.Typer()

_SHOWN: Final = 5


@app.command()
def conformance(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="Traces as JSON Lines.")],
    data: Annotated[
        str | None,
        typer.Option(
            "--data",
            envvar="GREENROOM_DATA",
            help="The pack that they were recorded on. Traces of tau2-bench: the directory of the "
            "file, if it is not given.",
        ),
    ] = None,
    domain: Annotated[
        str | None, typer.Option("--domain", help="Only the traces of this domain.")
    ] = None,
    json: Json = False,
) -> None:
    """Play traces recorded from Tau Bench or tau2-bench and compare everything.

    The exit status is 1 if any differs.
    """
    from greenroom.benchmark.conformance import check_conformance, read_traces
    from greenroom.benchmark.tau2_conformance import (
        check_tau2_conformance,
        is_tau2_kit,
        read_tau2_traces,
    )

    compared: dict[str, Any] = {}
    if is_tau2_kit(file):
        tau2_traces = read_tau2_traces(file, domain)
        source = ctx.get_parameter_source("data")
        typed = source is not None and source.name == "COMMANDLINE"  # the variable is for others
        with progress_bar("Traces", len(tau2_traces), shown=not json) as advance:
            report, tally = check_tau2_conformance(
                tau2_traces,
                data if data and typed else file.parent,
                on_trace=lambda: advance(""),
            )
        compared = {"calls": dict(tally.calls), "texts_of_python": tally.texts_of_python}
    else:
        if data is None:
            raise InputError("Name the pack that the traces were recorded on: --data DIR.")
        traces = [trace for trace in read_traces(file) if domain in (None, trace.env)]
        with progress_bar("Traces", len(traces), shown=not json) as advance:
            report = check_conformance(traces, data, on_trace=lambda: advance(""))
    if json:
        print_json(
            {
                "traces": report.total,
                "matching": report.matching,
                **compared,
                "mismatches": [
                    {"trace": m.trace, "what": m.what, "expected": m.expected, "actual": m.actual}
                    for m in report.mismatches
                ],
            }
        )
    else:
        _print(report, compared)
    if report.mismatches:
        raise typer.Exit(1)


def _print(report: ConformanceReport, compared: dict[str, Any]) -> None:
    out = console()
    for mismatch in report.mismatches[:_SHOWN]:
        out.print(f"First difference: {mismatch}", soft_wrap=True, markup=False)
    left = len(report.mismatches) - _SHOWN
    if left > 0:
        out.print(f"... and {left} more traces that differ")
    if compared:
        calls = ", ".join(f"{count} of {name}" for name, count in compared["calls"].items())
        out.print(f"Calls compared by text, error flag and both hashes: {calls}", soft_wrap=True)
        if compared["texts_of_python"]:
            out.print(
                f"{compared['texts_of_python']} texts of errors are worded by another version of "
                "Python or pydantic; their error flags and hashes agree.",
                soft_wrap=True,
            )
    out.print(f"{report.matching}/{report.total} traces match")
