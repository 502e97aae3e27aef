"""`greenroom judgings`: judges' verdicts that are kept with runs, and judgings under way."""

from __future__ import annotations

import typer

from greenroom.cli.identify import Examples, print_judgements
from greenroom.cli.operating import JUDGINGS, operating_commands
from greenroom.cli.options import Json
from greenroom.cli.output import print_json
from greenroom.cli.reporting import Name, list_jobs

app = typer.Typer(
    help="List and show judgings, and look after those under way.", no_args_is_help=True
)
operating_commands(app, JUDGINGS)


@app.command("list")
def list_judgings(json: Json = False) -> None:
    """List all judgings, the newest first."""
    from greenroom.store import open_store

    store = open_store()
    list_jobs(
        store.judgings,
        {"Run": lambda one: one.run_name, "Judge": lambda one: one.judge},
        lambda one: one.model_dump(mode="json", exclude={"episodes"}),
        title=f"Judgings in {store.location}",
        cells="Judgements",
        figure="",
        first="No judgings yet. Try: greenroom identify RUN --judge-model MODEL",
        json=json,
    )


@app.command()
def show(name: Name, examples: Examples = 10, json: Json = False) -> None:
    """Show the judgements of a judging: whose fault failures were, and what agents did wrong."""
    from greenroom.judging import summarise
    from greenroom.reports.judge_checks import check_of_judging
    from greenroom.store import open_store

    store = open_store()
    judging = store.judgings.find(name)
    judgements = list(store.judgings.results(judging.id))
    check = check_of_judging(store, judging)
    if json:
        print_json(
            {
                "check": None if check is None else check.model_dump(mode="json"),
                "judging": judging.model_dump(mode="json", exclude={"episodes"}),
                "failures": judging.planned,
                "summary": summarise(judgements).model_dump(),
                "judgements": [one.model_dump(mode="json") for one in judgements],
            }
        )
        return
    print_judgements(judging.run_name, judging.judge, judging.planned, judgements, examples, check)
