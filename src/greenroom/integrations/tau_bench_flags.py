"""The flags of Tau Bench's `run.py`, with its defaults, and those of ours behind them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from greenroom.agents.flags import AgentFlags, flags_of_options
from greenroom.benchmark.config import RunConfig
from greenroom.options import add_arguments, joined_lists, options_of

DEFAULTS = {
    "agent_strategy": "tool-calling",
    "end_index": -1,
    "env": "retail",
    "max_concurrency": 1,
    "num_trials": 1,
    "seed": 10,
    "shuffle": 0,
    "start_index": 0,
    "task_split": "test",
    "temperature": 0.0,
    "user_model": "gpt-4o",
    "user_strategy": "llm",
}
_UPSTREAM = {*DEFAULTS, "model", "model_provider", "task_ids", "user_model_provider"}
_CHOICES = {"env": ("retail", "airline"), "task_split": ("train", "test", "dev")}
_NOT_HERE = {"data", "env_options", "gates", "strict", "user_api_base", "user_options"}
"""Options of ours about what Tau Bench brings itself: data, users and figures."""


def parse_flags(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """What was asked for; the names are those of both configurations, Tau Bench's and ours."""
    parser = argparse.ArgumentParser(
        prog="python -m greenroom.integrations.tau_bench",
        description="Tau Bench's own run, with an agent of Greenroom. The settings of the chosen "
        "agent are flags, too.",
        # Not abbreviations: Tau Bench may get flags that ours would be taken for.
        allow_abbrev=False,
    )
    options = [option for option in options_of(RunConfig) if option.field not in _NOT_HERE]
    theirs = parser.add_argument_group("Tau Bench's flags")
    add_arguments(
        theirs,
        [option for option in options if option.field in _UPSTREAM],
        defaults=DEFAULTS,
        choices=_CHOICES,
    )
    theirs.add_argument(
        "--log-dir", default="results", help="where the result file is written (default results)"
    )
    ours = parser.add_argument_group("Greenroom's flags, for the agent")
    add_arguments(ours, [option for option in options if option.field not in _UPSTREAM])
    known = {"-h": False, "--help": False, "--log-dir": True} | flags_of_options(options)
    flags = AgentFlags(known, lambda _: str(DEFAULTS["agent_strategy"]))
    words = sys.argv[1:] if arguments is None else arguments
    return parser.parse_args(flags.spelt_out(joined_lists(words)))
