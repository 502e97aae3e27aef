"""`greenroom agents`: who can play, and what each can be told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from greenroom.cli.options import Json
from greenroom.cli.output import console, print_json

if TYPE_CHECKING:
    from greenroom.agents import AgentStrategy

app = typer.Typer(help="List the agents that can play.", no_args_is_help=True)


@app.command("list")
def list_agents(json: Json = False) -> None:
    """List the strategies that --agent-strategy takes, with their settings."""
    from greenroom.agents import find_strategy, strategy_names

    strategies = [find_strategy(name) for name in strategy_names()]
    if json:
        print_json([_facts(strategy) for strategy in strategies])
        return
    for strategy in strategies:
        _print(strategy)


@app.command()
def show(
    agent: Annotated[
        str, typer.Argument(help="A name of 'agents list', or file.py:name.", metavar="AGENT")
    ],
    json: Json = False,
) -> None:
    """Show an agent: what it is, and its settings, each of which is a flag of 'greenroom run'."""
    from greenroom.agents import find_strategy

    strategy = find_strategy(agent)
    if json:
        print_json(_facts(strategy))
    else:
        _print(strategy)


def _facts(strategy: AgentStrategy) -> dict[str, Any]:
    return {
        "name": strategy.name,
        "summary": strategy.summary,
        "settings": strategy.settings.model_json_schema().get("properties", {}),
        "needs_model": strategy.needs_model,
        "reads_script": strategy.reads_script,
    }


def _print(strategy: AgentStrategy) -> None:
    from greenroom.agents.flags import spellings
    from greenroom.options import options_of

    out = console()
    out.print(strategy.name, style="bold", end=": ")
    out.print(strategy.summary)
    for option in options_of(strategy.settings):
        value = "" if option.is_switch else f" {'|'.join(option.choices) or '...'}"
        default = "" if option.default in (None, False) else f" Default: {option.default}."
        text = f"    {'/'.join(spellings(option))}{value}  {option.help}{default}"
        out.print(text, soft_wrap=True)
