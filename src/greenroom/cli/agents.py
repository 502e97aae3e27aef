"""`greenroom agents`: who can play."""

from __future__ import annotations

import typer

from greenroom.cli.options import Json
from greenroom.cli.output import console, print_json

app = typer.Typer(help="List the agents that can play.", no_args_is_help=True)


@app.command("list")
def list_agents(json: Json = False) -> None:
    """List the strategies that --agent-strategy takes, with their options."""
    from greenroom.agents import load_strategy, strategy_names

    strategies = [load_strategy(name) for name in strategy_names()]
    if json:
        print_json(
            [
                {
                    "name": strategy.name,
                    "summary": strategy.summary,
                    "options": dict(strategy.options),
                    "reads_script": strategy.reads_script,
                }
                for strategy in strategies
            ]
        )
        return
    out = console()
    for strategy in strategies:
        out.print(f"[bold]{strategy.name}[/bold]: {strategy.summary}")
        for option, help_text in strategy.options.items():
            out.print(f"    --agent-option {option}=...  {help_text}", markup=False)
