"""The flags of Tau Bench's `run.py`, with its defaults, and those of ours behind them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from greenroom.errors import InputError


def parse_flags(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """What was asked for; the names are those of both configurations, Tau Bench's and ours."""
    parser = argparse.ArgumentParser(
        prog="python -m greenroom.integrations.tau_bench",
        description="Tau Bench's own run, with an agent of Greenroom.",
        # Not abbreviations: Tau Bench may get flags that ours would be taken for.
        allow_abbrev=False,
    )
    _add_upstream_flags(parser)
    _add_our_flags(parser)
    flags = parser.parse_args(arguments)
    flags.agent_options = _options(flags.agent_options)
    return flags


def _add_upstream_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("Tau Bench's flags").add_argument
    add("--num-trials", type=int, default=1, help="trials of each task (default 1)")
    add("--env", choices=["retail", "airline"], default="retail", help="default retail")
    add("--model", help="the agent's model")
    add("--model-provider", help="the provider of the agent's model, as litellm names it")
    add("--user-model", default="gpt-4o", help="the simulated user's model (default gpt-4o)")
    add("--user-model-provider", help="the provider of the user's model")
    add("--agent-strategy", default="tool-calling", help="any strategy of 'greenroom agents list'")
    add("--temperature", type=float, default=0.0, help="of the agent's model (default 0.0)")
    add("--task-split", choices=["train", "test", "dev"], default="test", help="default test")
    add("--start-index", type=int, default=0, help="the first task (default 0)")
    add("--end-index", type=int, default=-1, help="the end of the range; -1 for all (default)")
    add("--task-ids", type=int, nargs="+", metavar="N", help="only these tasks")
    add("--log-dir", default="results", help="where the result file is written (default results)")
    add("--max-concurrency", type=int, default=1, help="episodes at the same time (default 1)")
    add("--seed", type=int, default=10, help="what chance depends on (default 10)")
    add("--shuffle", type=int, default=0, help="1 to shuffle the tasks")
    add("--user-strategy", default="llm", help="one of Tau Bench's users (default llm)")
    add("--few-shot-displays-path", help="examples for the few-shot agent, as JSON Lines")


def _add_our_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("Greenroom's flags, for the agent").add_argument
    add(
        "--agent-option",
        dest="agent_options",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of the strategy; may be repeated",
    )
    add("--max-num-steps", type=int, help="the most steps of an episode (default 30)")
    add("--max-episode-seconds", type=float, help="the longest that an episode may take")
    add("--max-retries", type=int, help="further attempts at a broken episode (default 2)")
    add("--api-base", help="an OpenAI-compatible server for the agent's model")
    add("--max-tokens", type=int, help="the most tokens that an answer may have")
    add("--reasoning-effort", help="low, medium or high, where it applies")
    add("--transport", choices=["auto", "litellm"], help="litellm forces the way over litellm")
    add("--model-timeout", type=float, help="seconds to wait for an answer of the agent's model")
    add("--model-retries", type=int, help="further attempts at a call of the agent's model")
    add("--cache", action="store_true", help="keep answers of the agent's model, and use them")
    add("--prices", help="a JSON file of prices that come before the known")
    add("--max-cost", type=float, help="stop when the agent has cost so many US dollars")
    add("--max-tokens-total", type=int, help="stop when the agent has used so many tokens")


def _options(pairs: Sequence[str]) -> dict[str, str]:
    options: dict[str, str] = {}
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not separator or not name:
            raise InputError(f"--agent-option takes NAME=VALUE, not '{pair}'.")
        options[name] = value
    return options
