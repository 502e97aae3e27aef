"""`greenroom replay`: recorded episodes, scored again."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Annotated, Any

import typer

from greenroom.benchmark.config import RunConfig, check_config
from greenroom.cli.config_options import takes
from greenroom.cli.options import Json
from greenroom.cli.output import console, print_json
from greenroom.trials.display import progress_bar

app = typer.Typer()


@app.command()
@takes(RunConfig, only=("env", "env_options", "data", "task_split"))
def replay(
    fields: dict[str, Any],
    file: Annotated[Path, typer.Argument(help="A Tau Bench result file.")],
    json: Json = False,
) -> None:
    """Play recorded episodes again: exit status 1 if a reward is not the recorded one."""
    from greenroom.agents.replay import load_recordings
    from greenroom.analysis import pass_hat_ks
    from greenroom.benchmark.replay import ReplayedEpisode, replay_recordings
    from greenroom.domains.domain import load_domain

    config = check_config(fields)
    domain = load_domain(config.env, config.data, config.env_options)
    recorded = load_recordings(file)
    recordings = [recording for recording in recorded if not recording.crashed]
    episodes: list[ReplayedEpisode] = []
    with progress_bar("Episodes", len(recordings), shown=not json) as advance:
        for episode in replay_recordings(domain, recordings, split=config.task_split):
            episodes.append(episode)
            advance("")
    trials: defaultdict[int, list[bool]] = defaultdict(list)
    for episode in episodes:
        trials[episode.recording.task_index].append(episode.reward == 1.0)
    agreeing = sum(episode.agrees for episode in episodes)
    result: dict[str, Any] = {
        "episodes": len(episodes),
        "crashed": len(recorded) - len(recordings),
        "rewards_agreeing": agreeing,
        "observations_differing": sum(len(episode.differences) for episode in episodes),
        "pass_hat_k": pass_hat_ks(trials),
        "disagreeing": [
            {
                "task_id": episode.recording.task_index,
                "trial": episode.recording.trial,
                "recorded": episode.recording.reward,
                "replayed": episode.reward,
            }
            for episode in episodes
            if not episode.agrees
        ],
        "differences": [
            {
                "task_id": episode.recording.task_index,
                "trial": episode.recording.trial,
                "step": difference.step,
                "tool": difference.tool,
                "recorded": difference.recorded,
                "replayed": difference.replayed,
            }
            for episode in episodes
            for difference in episode.differences
        ],
    }
    if json:
        print_json(result)
    else:
        _print(result)
    if agreeing < len(episodes):
        raise typer.Exit(1)


def _print(result: dict[str, Any]) -> None:
    out = console()
    for row in result["disagreeing"]:
        out.print(
            f"task {row['task_id']}, trial {row['trial']}: recorded {row['recorded']}, "
            f"replayed {row['replayed']}"
        )
    for row in result["differences"][:1]:
        out.print(
            f"First differing observation: task {row['task_id']}, trial {row['trial']}, step "
            f"{row['step']} ({row['tool']})\n  recorded: {row['recorded']:.200}\n"
            f"  replayed: {row['replayed']:.200}",
        )
    if result["crashed"]:
        out.print(f"Left out: {result['crashed']} episodes that crashed and were never played")
    out.print(f"Observations that differ: {result['observations_differing']}")
    figures = "  ".join(f"pass^{k} {value:.3f}" for k, value in result["pass_hat_k"].items())
    out.print(f"{figures or 'no episodes'}")
    out.print(f"{result['rewards_agreeing']}/{result['episodes']} rewards agree")
