"""Tau Bench's own command line: the same flags and result file, in front of our runner."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from greenroom.agents.flags import AgentFlags, flags_of_options
from greenroom.benchmark.config import RunConfig
from greenroom.cli.app import end_process, report_error
from greenroom.cli.options import cached_fields, spelt_out_switches
from greenroom.options import add_arguments, joined_lists, options_of

DEFAULTS: dict[str, Any] = {
    "agent_strategy": "tool-calling",
    "max_concurrency": 1,
    "user_model": "gpt-4o",
    "user_strategy": "llm",
}
"""Where Tau Bench's defaults differ from ours."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run with Tau Bench's flags; the exit status is 2 for what a person can mend."""
    try:
        status = play(parse(sys.argv[1:] if arguments is None else arguments))
    except typer.Exit as end:
        status = end.exit_code
    except Exception as error:
        status = report_error(error)
    end_process(status)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The flags of Tau Bench's run.py with its defaults, and those of `greenroom run`."""
    parser = argparse.ArgumentParser(
        prog="run.py",
        description="Tau Bench's command line, on Greenroom's runner. The settings of the chosen "
        "agent are flags, too.",
        allow_abbrev=False,
    )
    options = options_of(RunConfig)
    add_arguments(parser, options, defaults=DEFAULTS)
    parser.add_argument("--log-dir", default="results", help="Where the result file is written.")
    parser.add_argument(
        "--clear-cache",
        choices=["true", "false"],
        help="true: forget all kept answers first; false: keep answers and use them.",
    )
    own = {"-h": False, "--help": False, "--log-dir": True, "--clear-cache": True}
    flags = AgentFlags(own | flags_of_options(options), lambda _: DEFAULTS["agent_strategy"])
    words = spelt_out_switches(joined_lists(arguments))
    return parser.parse_args(flags.spelt_out(words))


def play(flags: argparse.Namespace) -> int:
    """Play the run, keep it in the store, write Tau Bench's result file; the exit status."""
    from greenroom.agents import find_strategy
    from greenroom.benchmark import check_config, start_run
    from greenroom.cli.reporting import FAILED, ReportOptions
    from greenroom.cli.working import play_and_report
    from greenroom.reports.tau_bench import result_file_name, tau_bench_rows, write_tau_bench
    from greenroom.store import open_store
    from greenroom.trials import remove_if_refused

    fields: dict[str, Any] = {k: value for k, value in vars(flags).items() if value is not None}
    log_dir = Path(fields.pop("log_dir"))
    fields = cached_fields(fields, fields.pop("clear_cache", None))
    strategy = find_strategy(flags.agent_strategy)
    if not strategy.needs_model and strategy.create_model is None:
        # It knows what to do, and would talk to a model for nothing.
        fields |= {"user_model": None, "user_strategy": "scripted"}
    # As Tau Bench does: the folder is named for this alone.
    log_dir.mkdir(parents=True, exist_ok=True)
    store = open_store()
    run, prepared = start_run(store, check_config(fields))
    with remove_if_refused(store.runs, run):
        report = play_and_report(store, run, prepared, ReportOptions())
    path = log_dir / result_file_name(run)
    write_tau_bench(path, tau_bench_rows(run, store.runs.results(run.id)))
    sys.stdout.write(f"Results saved to {path}\n")
    return 0 if report.holds else FAILED
