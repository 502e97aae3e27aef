"""`make demo`: two agents on the built-in tasks, a report, and what to do next."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import anyio
from rich.console import Console

from greenroom.benchmark import check_config, play_run, start_run
from greenroom.reports.build import build_report
from greenroom.reports.build_comparison import compare_stored
from greenroom.reports.console import print_report
from greenroom.reports.html import render_html
from greenroom.reports.markdown import render_markdown
from greenroom.store import RunRecord, Store, open_store
from greenroom.util.files import write_whole

FOLDER = Path("demo")
DATABASE = f"sqlite:///{FOLDER}/runs.db"

NEXT = f"""\
[bold]What to do next[/bold]
1. Run [bold]make playground[/bold]: the pages where you look at these runs, open any episode at any
   turn, and talk to workflows. Without them, [bold]{FOLDER}/report.html[/bold] has every episode.
2. Measure on fresh data that no model has seen:
     .venv/bin/greenroom generate --seed 7 --tasks 50 -o my-pack
     .venv/bin/greenroom run --agent-strategy synthetic --num-trials 4 --data my-pack
3. Run your own agent: docs/agents.md shows how, in 20 lines; docs/fastworkflow.md
   is about agents of FastWorkflow.
4. Declare a chat workflow, talk to it and evaluate it: docs/workflows.md, in five minutes.
"""


def main() -> None:
    """Play the built-in tasks with an agent that knows the answers and one that fails at times."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.environ["GREENROOM_DATABASE_URL"] = DATABASE
    console = Console()
    store = open_store()
    console.print(
        "[bold]Greenroom[/bold]: a shop, its customers, and 96 tasks.\n"
        "Two agents play all of them, four times each. The [bold]oracle[/bold] knows the answers: "
        "it shows that every task can be solved.\nThe [bold]synthetic[/bold] agent solves a task "
        "with a chance of 0.8, as a real one might. No key, no network.\n"
    )
    oracle = _play(store, "oracle")
    synthetic = _play(store, "synthetic")
    report = build_report(store, synthetic)
    print_report(report, console, max_items=8)
    console.print("\n[bold]Compared with the oracle[/bold]")
    comparison = compare_stored(store, [oracle, synthetic])
    print_report(comparison, console)
    write_whole(FOLDER / "report.html", render_html(report))
    write_whole(FOLDER / "comparison.md", render_markdown(comparison))
    console.print()
    console.print(NEXT, soft_wrap=True)
    store.close()


def _play(store: Store, strategy: str) -> RunRecord:
    config = check_config({"agent_strategy": strategy, "num_trials": 4})
    run, prepared = start_run(store, config, name=strategy)
    anyio.run(lambda: play_run(store, run, prepared))
    return store.runs.find(strategy)


if __name__ == "__main__":
    main()
