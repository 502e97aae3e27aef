"""tau2-bench's own result files: graded again by `replay`, written by `runs export`."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import typer

from greenroom.cli.output import console, echo, print_json
from greenroom.errors import InputError
from greenroom.trials.display import progress_bar

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from greenroom.benchmark.config import RunConfig
    from greenroom.benchmark.simulations import ReplayedSimulation
    from greenroom.domains.tau2.recorded import Simulation
    from greenroom.store import EvaluationRecord, RunRecord, Store


def replay_simulations(simulations: Sequence[Simulation], config: RunConfig, *, json: bool) -> None:
    """Grade the episodes of a file again; exit with 1 if a reward is not the recorded one."""
    from greenroom.benchmark import simulations as graded
    from greenroom.domains.domain import load_domain

    recorded = [one for one in simulations if one.reward is not None]
    alone = {"solo": "true"} if any(one.solo for one in simulations) else {}
    options = alone | dict(config.env_options)
    episodes: list[ReplayedSimulation] = []
    with progress_bar("Episodes", len(recorded), shown=not json) as advance:
        for episode in graded.replay_simulations(
            recorded, lambda name: load_domain(name, config.data, options)
        ):
            episodes.append(episode)
            advance("")
    result = _result(episodes, len(simulations) - len(recorded))
    if json:
        print_json(result)
    else:
        _print(result)
    if result["rewards_agreeing"] < len(episodes):
        raise typer.Exit(1)


def _result(episodes: Sequence[ReplayedSimulation], without_reward: int) -> dict[str, Any]:
    from greenroom.analysis import pass_hat_ks

    trials: defaultdict[Any, list[bool]] = defaultdict(list)
    for episode in episodes:
        recording = episode.recording
        trials[recording.domain, recording.task.id].append(episode.reward == 1.0)
    return {
        "episodes": len(episodes),
        "without_reward": without_reward,
        "rewards_agreeing": sum(episode.agrees for episode in episodes),
        "observations_differing": sum(len(episode.differences) for episode in episodes),
        "judged_in_file": sum(episode.judged for episode in episodes),
        "unjudged": sum(episode.unjudged for episode in episodes),
        "pass_hat_k": pass_hat_ks(dict(enumerate(trials.values()))),
        "disagreeing": [
            {
                **_place(episode),
                "recorded": episode.recording.reward,
                "replayed": episode.reward,
                "explanation": episode.explanation,
            }
            for episode in episodes
            if not episode.agrees
        ],
        "differences": [
            {
                **_place(episode),
                "call": difference.number,
                "tool": difference.name,
                "recorded": difference.recorded,
                "replayed": difference.replayed,
            }
            for episode in episodes
            for difference in episode.differences
        ],
    }


def _place(episode: ReplayedSimulation) -> dict[str, Any]:
    recording = episode.recording
    return {"domain": recording.domain, "task_id": recording.task.id, "trial": recording.trial}


def _print(result: dict[str, Any]) -> None:
    out = console()
    for row in result["disagreeing"]:
        out.print(
            f"{row['domain']} task {row['task_id']}, trial {row['trial']}: recorded "
            f"{row['recorded']}, replayed {row['replayed']}: {row['explanation']}",
            soft_wrap=True,
            markup=False,
        )
    for row in result["differences"][:1]:
        out.print(
            f"First differing observation: {row['domain']} task {row['task_id']}, trial "
            f"{row['trial']}, call {row['call'] + 1} ({row['tool']})\n"
            f"  recorded: {row['recorded']:.200}\n  replayed: {row['replayed']:.200}",
            markup=False,
        )
    if result["without_reward"]:
        out.print(f"Left out: {result['without_reward']} episodes without a recorded reward")
    out.print(f"Observations that differ: {result['observations_differing']}")
    if result["judged_in_file"]:
        out.print(f"Sentences with the verdict of the file: {result['judged_in_file']}")
    if result["unjudged"]:
        out.print(f"Sentences that await a judge, taken as accepted: {result['unjudged']}")
    figures = "  ".join(f"pass^{k} {value:.3f}" for k, value in result["pass_hat_k"].items())
    out.print(f"{figures or 'no episodes'}")
    out.print(f"{result['rewards_agreeing']}/{result['episodes']} rewards agree")


def export_simulations(
    store: Store, job: RunRecord | EvaluationRecord, output: Path | None
) -> None:
    """Write a run as tau2's results.json, to a file or to the terminal."""
    import orjson

    from greenroom.store import RunRecord
    from greenroom.util.files import write_whole

    if not isinstance(job, RunRecord):
        raise InputError(f"'{job.name}' is an evaluation: tau2's files hold runs.")
    content = orjson.dumps(simulations_of(store, job), option=orjson.OPT_INDENT_2)
    if output is None:
        echo(content.decode())
        return
    write_whole(output, content)
    echo(f"Wrote {output}")


def simulations_of(store: Store, run: RunRecord) -> Any:
    """The content of tau2's results.json for a run."""
    from greenroom.benchmark.config import check_config
    from greenroom.benchmark.runner import prepare_again
    from greenroom.benchmark.simulation_files import in_order, results_file

    domain = prepare_again(run, check_config(run.config)).domain
    return results_file(run, domain, in_order(store.runs.results(run.id)))
