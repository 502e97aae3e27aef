"""Tau Bench's own command line: the same flags and result file, in front of our runner."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from greenroom.cli.app import report_error
from greenroom.cli.options import parse_task_ids


def main(arguments: Sequence[str] | None = None) -> None:
    """Run with Tau Bench's flags; the exit status is 2 for what a person can mend."""
    try:
        play(parse(arguments))
    except typer.Exit as end:
        sys.exit(end.exit_code)
    except Exception as error:
        sys.exit(report_error(error))


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The flags of Tau Bench's run.py, with its defaults."""
    parser = argparse.ArgumentParser(
        prog="run.py", description="Tau Bench's command line, on Greenroom's runner."
    )
    add = parser.add_argument
    add("--num-trials", type=int, default=1, help="trials of each task")
    add("--env", default="retail", help="retail or airline")
    add("--model", help="the agent's model")
    add("--model-provider", help="the provider of the agent's model")
    add("--user-model", default="gpt-4o", help="the simulated user's model")
    add("--user-model-provider", help="the provider of the user's model")
    add("--agent-strategy", default="tool-calling", help="who plays: tool-calling, oracle, ...")
    add("--agent-option", action="append", default=[], metavar="NAME=VALUE", help="see greenroom")
    add("--temperature", type=float, default=0.0, help="the sampling temperature of the agent")
    add("--task-split", default="test", help="train, test or dev")
    add("--start-index", type=int, default=0, help="the first task")
    add("--end-index", type=int, default=-1, help="the end of the range; -1 for all")
    add("--task-ids", nargs="+", metavar="N", help="only these tasks: 1 2 3 or 1,2,3")
    add("--log-dir", default="results", help="where the result file is written")
    add("--max-concurrency", type=int, default=1, help="episodes played at the same time")
    add("--seed", type=int, default=10, help="what chance depends on")
    add("--shuffle", type=int, default=0, help="1 to shuffle the tasks")
    add("--user-strategy", default="llm", help="llm, react, verify, reflection or human")
    add("--few-shot-displays-path", help="a JSON Lines file of few-shot displays")
    add("--api-base", help="an OpenAI-compatible server for the agent's model")
    add("--user-api-base", help="an OpenAI-compatible server for the user's model")
    add("--data", help="a pack directory, or the name of a pulled pack")
    return parser.parse_args(arguments)


def play(flags: argparse.Namespace) -> None:
    """Play the run, keep it in the store, and write Tau Bench's result file."""
    import os

    from greenroom.agents import load_strategy
    from greenroom.benchmark import check_config, start_run
    from greenroom.cli.options import parse_agent_options
    from greenroom.cli.playing import play_and_report
    from greenroom.reports.tau_bench import result_file_name, tau_bench_rows, write_tau_bench
    from greenroom.store import open_store

    options = parse_agent_options(flags.agent_option)
    if flags.few_shot_displays_path:
        options["few_shot_displays_path"] = flags.few_shot_displays_path
    ids = parse_task_ids(" ".join(flags.task_ids)) if flags.task_ids else None
    scripted = not load_strategy(flags.agent_strategy).needs_model
    fields: dict[str, Any] = {
        "agent_strategy": flags.agent_strategy,
        "agent_options": options,
        "env": flags.env,
        "data": flags.data or os.environ.get("GREENROOM_DATA"),
        "task_split": flags.task_split,
        "task_ids": ids,
        "start_index": flags.start_index,
        "end_index": flags.end_index,
        "shuffle": bool(flags.shuffle),
        "num_trials": flags.num_trials,
        "max_concurrency": flags.max_concurrency,
        "seed": flags.seed,
        "model": flags.model,
        "model_provider": flags.model_provider,
        "api_base": flags.api_base,
        "temperature": flags.temperature,
        "user_model": None if scripted else flags.user_model,
        "user_model_provider": flags.user_model_provider,
        "user_api_base": flags.user_api_base,
        "user_strategy": "scripted" if scripted else flags.user_strategy,
    }
    store = open_store()
    run, prepared = start_run(store, check_config(fields))
    play_and_report(store, run, prepared)
    path = Path(flags.log_dir) / result_file_name(run)
    write_tau_bench(path, tau_bench_rows(run, store.runs.results(run.id)))
    sys.stdout.write(f"Results saved to {path}\n")
