"""`greenroom run` and `greenroom resume`: an agent plays tasks, and this is how well."""

from __future__ import annotations

from typing import Annotated

import typer

from greenroom.cli.options import (
    Data,
    EndIndex,
    Env,
    Json,
    ListOptionsCommand,
    Run,
    Shuffle,
    Split,
    StartIndex,
    TaskIds,
    parse_agent_options,
    parse_task_ids,
)
from greenroom.cli.playing import play_and_report


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(cls=ListOptionsCommand)(run)
    app.command()(resume)


def run(
    agent_strategy: Annotated[
        str, typer.Option("--agent-strategy", help="Who plays: oracle, synthetic, replay, ...")
    ] = "oracle",
    agent_option: Annotated[
        list[str] | None,
        typer.Option("--agent-option", help="An option of the agent.", metavar="NAME=VALUE"),
    ] = None,
    env: Env = "retail",
    data: Data = None,
    task_split: Split = "test",
    task_ids: TaskIds = None,
    start_index: StartIndex = 0,
    end_index: EndIndex = -1,
    shuffle: Shuffle = 0,
    num_trials: Annotated[int, typer.Option("--num-trials", help="Trials of each task.")] = 1,
    max_concurrency: Annotated[
        int, typer.Option("--max-concurrency", help="Episodes played at the same time.")
    ] = 10,
    max_num_steps: Annotated[
        int, typer.Option("--max-num-steps", help="Steps that an episode may take.")
    ] = 30,
    max_episode_seconds: Annotated[
        float | None, typer.Option("--max-episode-seconds", help="Time that an episode may take.")
    ] = None,
    max_retries: Annotated[
        int, typer.Option("--max-retries", help="Further attempts where something else breaks.")
    ] = 2,
    seed: Annotated[int, typer.Option("--seed", help="What chance depends on.")] = 10,
    name: Annotated[
        str | None, typer.Option("--name", help="A name for the run; one is made up otherwise.")
    ] = None,
    json: Json = False,
) -> None:
    """Let an agent play tasks and report how many it solves, and how reliably."""
    from greenroom.benchmark import check_config, start_run
    from greenroom.store import open_store

    config = check_config(
        {
            "agent_strategy": agent_strategy,
            "agent_options": parse_agent_options(agent_option or []),
            "env": env,
            "data": data,
            "task_split": task_split,
            "task_ids": parse_task_ids(task_ids),
            "start_index": start_index,
            "end_index": end_index,
            "shuffle": bool(shuffle),
            "num_trials": num_trials,
            "max_concurrency": max_concurrency,
            "max_num_steps": max_num_steps,
            "max_episode_seconds": max_episode_seconds,
            "max_retries": max_retries,
            "seed": seed,
        }
    )
    store = open_store()
    record, prepared = start_run(store, config, name=name)
    play_and_report(store, record, prepared, json=json)


def resume(run: Run, json: Json = False) -> None:
    """Go on with a run that was interrupted: only what has no result yet is played."""
    from greenroom.benchmark import reopen_run
    from greenroom.store import open_store

    store = open_store()
    record, prepared = reopen_run(store, run)
    play_and_report(store, record, prepared, json=json)
