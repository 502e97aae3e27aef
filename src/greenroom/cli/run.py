"""`greenroom run`: an agent plays tasks, and this is how well."""

from __future__ import annotations

from collections import defaultdict
from typing import Annotated, Any

import typer

from greenroom.cli.options import (
    Data,
    EndIndex,
    Env,
    Json,
    ListOptionsCommand,
    Shuffle,
    Split,
    StartIndex,
    TaskIds,
    chosen_tasks,
    parse_agent_options,
)
from greenroom.cli.output import console, print_json, progress


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(cls=ListOptionsCommand)(run)


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
    seed: Annotated[int, typer.Option("--seed", help="What chance depends on.")] = 10,
    json: Json = False,
) -> None:
    """Let an agent play tasks and report how many it solves, and how reliably."""
    import anyio

    from greenroom.agents import find_strategy
    from greenroom.benchmark import Episode, run_episodes
    from greenroom.domains.domain import load_domain

    options = parse_agent_options(agent_option or [])
    strategy = find_strategy(agent_strategy, options)
    domain = load_domain(env, data)
    indices = chosen_tasks(
        domain, task_split, task_ids, start_index, end_index, seed if shuffle else None
    )
    episodes: list[Episode] = []

    async def play() -> None:
        async def keep(episode: Episode) -> None:
            episodes.append(episode)
            solved = sum(e.reward == 1.0 for e in episodes)
            advance(f"pass^1 {solved / len(episodes):.2f}")

        await run_episodes(
            domain,
            strategy,
            indices,
            keep,
            split=task_split,
            trials=num_trials,
            seed=seed,
            options=options,
            max_concurrency=max_concurrency,
            max_steps=max_num_steps,
        )

    with progress("Episodes", len(indices) * num_trials, shown=not json) as advance:
        anyio.run(play)
    episodes.sort(key=lambda episode: (episode.trial, indices.index(episode.task_index)))
    result = _summary(episodes) | {
        "agent_strategy": agent_strategy,
        "agent_options": options,
        "env": domain.name,
        "task_split": task_split,
        "pack": domain.pack.info.model_dump(),
        "seed": seed,
    }
    if json:
        print_json(result | {"episodes": [_episode_json(episode) for episode in episodes]})
    else:
        _print(result, episodes)


def _summary(episodes: list[Any]) -> dict[str, Any]:
    from greenroom.analysis import pass_hat_ks

    trials: defaultdict[int, list[bool]] = defaultdict(list)
    for episode in episodes:
        trials[episode.task_index].append(episode.reward == 1.0)
    outcomes: defaultdict[str, int] = defaultdict(int)
    for episode in episodes:
        outcomes[episode.outcome] += 1
    return {
        "tasks": len(trials),
        "num_trials": max(map(len, trials.values()), default=0),
        "average_reward": sum(e.reward for e in episodes) / len(episodes),
        "pass_hat_k": pass_hat_ks(trials),
        "outcomes": dict(outcomes),
    }


def _episode_json(episode: Any) -> dict[str, Any]:
    return {
        "task_id": episode.task_index,
        "trial": episode.trial,
        "outcome": episode.outcome,
        "reward": episode.reward,
        "reward_details": episode.details.to_json() if episode.details else None,
        "steps": [
            {
                "action": {"name": step.action.name, "kwargs": dict(step.action.kwargs)},
                "observation": step.observation,
                "invalid": step.invalid,
            }
            for step in episode.steps
        ],
    }


def _print(result: dict[str, Any], episodes: list[Any]) -> None:
    from rich.table import Table

    out = console()
    title = f"{result['agent_strategy']} on {result['env']}, split {result['task_split']}"
    table = Table(title=title, title_justify="left")
    table.add_column("Measure")
    table.add_column("Value", justify="right")
    table.add_row("Tasks x trials", f"{result['tasks']} x {result['num_trials']}")
    table.add_row("Average reward", f"{result['average_reward']:.3f}")
    for k, value in result["pass_hat_k"].items():
        table.add_row(f"pass^{k}", f"{value:.3f}")
    for outcome, count in sorted(result["outcomes"].items()):
        table.add_row(f"Episodes: {outcome}", str(count))
    out.print(table)
    failed = [episode for episode in episodes if episode.reward != 1.0]
    for episode in failed[:3]:
        out.print(
            f"task {episode.task_index}, trial {episode.trial}: {_why(episode)}", markup=False
        )
    if len(failed) > 3:
        out.print(f"... and {len(failed) - 3} more that failed; --json tells everything")
    pack = result["pack"]
    out.print(f"Pack {pack['name']} {pack['version']}, seed {result['seed']}")


def _why(episode: Any) -> str:
    details = episode.details
    if details is None:
        return f"ran out of steps ({len(episode.steps)})"
    missing = [output for output, heard in details.outputs.items() if not heard]
    reasons = [str(difference) for difference in details.differences[:1]]
    if missing:
        reasons.append(f"the user did not hear {', '.join(missing)}")
    return "; ".join(reasons)
