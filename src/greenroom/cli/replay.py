"""`greenroom replay`: recorded episodes, played again as they were or from a turn on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from greenroom.benchmark.config import RunConfig, check_config
from greenroom.cli.config_options import AgentCommand, takes
from greenroom.cli.options import Json
from greenroom.cli.output import console, echo, print_json
from greenroom.errors import InputError, UnknownName
from greenroom.trials.display import progress_bar

if TYPE_CHECKING:
    from greenroom.agents.replay import RecordedEpisode
    from greenroom.domains.domain import Domain
    from greenroom.store import RunRecord, Store

app = typer.Typer()

_PLACE = ("env", "env_options", "data", "task_split")
"""What a result file does not say of itself, and a run does."""
_OF_WHOLE_RUNS = (
    "task_ids",
    "start_index",
    "end_index",
    "shuffle",
    "num_trials",
    "gates",
    "strict",
)


@app.command(cls=AgentCommand)
@takes(RunConfig, without=_OF_WHOLE_RUNS, typed_only=True)
def replay(
    fields: dict[str, Any],
    ctx: typer.Context,
    recorded: Annotated[
        str,
        typer.Argument(
            help="A run, a result file of Tau Bench or tau2-bench, a log of Inspect, or ATIF.",
            metavar="RUN|FILE",
        ),
    ],
    task: Annotated[
        int | None, typer.Argument(help="Only this task of a run.", metavar="[TASK]")
    ] = None,
    from_turn: Annotated[
        int | None,
        typer.Option(
            "--from-turn",
            help="Go on from the beginning of this turn of a run's episode, counted from 1.",
            metavar="K",
        ),
    ] = None,
    from_step: Annotated[
        int | None,
        typer.Option(
            "--from-step", help="Go on from this step instead, counted from 1.", metavar="K"
        ),
    ] = None,
    trials: Annotated[
        int | None, typer.Option("--trials", help="How often to go on from there: 1.", min=1)
    ] = None,
    trial: Annotated[
        int | None, typer.Option("--trial", help="The stored trial to go on from: 0.", min=0)
    ] = None,
    again: Annotated[
        bool,
        typer.Option(
            "--again", help="Begin new trials beside those that were played from there before."
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Play recorded episodes again, whole or from a turn on.

    Whole episodes are scored again: the exit status is 1 if a reward is not the recorded one. With
    --from-turn the world is restored to that turn and the agent goes on from there, with the
    configuration of its run or what is given here.
    """
    found = None if Path(recorded).is_file() else _run(recorded)
    goes_on = from_turn is not None or from_step is not None
    only = {
        "--from-turn": from_turn,
        "--from-step": from_step,
        "--trials": trials,
        "--trial": trial,
        "TASK": task,
    }
    if found is None:
        for name, given in only.items():
            if given is not None:
                raise InputError(
                    f"{name} is for runs of the store. A result file is replayed as it is."
                )
        _refuse(ctx, fields, _PLACE, "A result file is replayed as it is")
        _replay_file(Path(recorded), fields, json=json)
        return
    store, run = found
    _refuse(ctx, fields, [name for name in fields if name not in _PLACE], f"'{run.name}' is a run")
    fields = {name: value for name, value in fields.items() if name not in _PLACE}
    if not goes_on:
        if trials is not None or again or fields:
            raise InputError("Say where to go on: --from-turn 3, say, with a TASK.")
        _replay_run(store, run, task, trial, json=json)
        return
    if task is None:
        raise InputError(f"Say which task: greenroom replay {recorded} TASK --from-turn ...")
    from greenroom.cli.rewind import go_on

    go_on(
        store,
        run,
        task,
        trial=trial or 0,
        turn=from_turn,
        step=from_step,
        trials=trials or 1,
        changes=fields,
        again=again,
        json=json,
    )


def _run(name: str) -> tuple[Store, RunRecord] | None:
    """The run of a name, with its store; None for what is plainly meant as a file."""
    from greenroom.store import open_store

    store = open_store()
    try:
        return store, store.runs.find(name)
    except UnknownName:
        if Path(name).suffix or len(Path(name).parts) > 1:
            return None  # reading it says what is wrong with it
        raise


def _refuse(ctx: typer.Context, fields: dict[str, Any], allowed: Sequence[str], why: str) -> None:
    """Refuse options that were typed and mean nothing here; a variable may be set for others."""
    for parameter in ctx.command.params:
        source = ctx.get_parameter_source(parameter.name or "")
        typed = source is not None and source.name == "COMMANDLINE"
        if parameter.name in fields and parameter.name not in allowed and typed:
            raise InputError(f"{why}: {parameter.opts[0]} does not apply.")


def _replay_file(file: Path, fields: dict[str, Any], *, json: bool) -> None:
    from greenroom.agents.replay import holds_trajectories, load_recordings, place_of
    from greenroom.benchmark.simulations import load_simulations
    from greenroom.domains.domain import load_domain

    others = file.is_file() and holds_trajectories(file)
    place = place_of(file) if others else {}
    config = check_config(place | fields)
    simulations = None if others else load_simulations(file)
    if simulations is not None:
        from greenroom.cli.simulations import replay_simulations

        replay_simulations(simulations, config, json=json)
        return
    try:
        domain = load_domain(config.env, config.data, config.env_options)
    except UnknownName as error:
        if "env" in fields or "env" not in place:
            raise
        text = f"{file} is of the domain '{config.env}', which is not installed: name it by --env."
        raise InputError(text) from error
    ids = {task.id: index for index, task in enumerate(domain.tasks(config.task_split)) if task.id}
    _replay(domain, load_recordings(file, ids), config.task_split, json=json)


def _replay_run(
    store: Store, run: RunRecord, task: int | None, trial: int | None, *, json: bool
) -> None:
    from greenroom.benchmark.runner import prepare_again
    from greenroom.reports.texts import plural

    domain = prepare_again(run, check_config(run.config)).domain
    pruned: list[str] = []
    recordings = list(_recordings(store, run, task, trial, pruned))
    if not recordings:
        if pruned:
            raise InputError(
                f"There is nothing to replay: of {plural(len(pruned), 'such episode')} of "
                f"'{run.name}', {pruned[0]}."
            )
        raise InputError(f"The run '{run.name}' has no such episode.")
    if pruned:
        echo(f"Left out: {plural(len(pruned), 'episode')} with a pruned conversation", err=True)
    _replay(domain, recordings, run.task_split, json=json)


def _recordings(
    store: Store, run: RunRecord, task: int | None, trial: int | None, pruned: list[str]
) -> Iterator[RecordedEpisode]:
    """The conversations of a run; what was said of those that are gone goes into `pruned`."""
    from greenroom.agents.replay import RecordedEpisode
    from greenroom.reports.recorded_trajectories import spoken_call, spoken_step

    for episode in store.runs.results(run.id):
        if task in (None, episode.task_index) and trial in (None, episode.trial):
            if episode.pruned is not None:
                pruned.append(str(episode.pruned))
                continue
            yield RecordedEpisode(
                episode.task_index,
                episode.trial,
                episode.reward or 0.0,
                episode.opening,
                tuple(spoken_step(step) for step in episode.steps),
                crashed=not episode.has_result,
                opening_calls=tuple(map(spoken_call, episode.opening_calls)),
            )


def _replay(domain: Domain, recorded: Sequence[RecordedEpisode], split: str, *, json: bool) -> None:
    from greenroom.analysis import pass_hat_ks
    from greenroom.benchmark.replay import ReplayedEpisode, replay_recordings

    recordings = [recording for recording in recorded if not recording.crashed]
    episodes: list[ReplayedEpisode] = []
    with progress_bar("Episodes", len(recordings), shown=not json) as advance:
        for episode in replay_recordings(domain, recordings, split=split):
            episodes.append(episode)
            advance("")
    trials: defaultdict[int, list[bool]] = defaultdict(list)
    for episode in episodes:
        trials[episode.recording.task_index].append(episode.reward == 1.0)
    agreeing = sum(episode.agrees for episode in episodes)
    result: dict[str, Any] = {
        "episodes": len(episodes),
        "crashed": len(recorded) - len(recordings),
        "without_reward": sum(recording.reward is None for recording in recordings),
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
    if result["without_reward"]:
        out.print(f"No reward was recorded of {result['without_reward']} episodes")
    out.print(f"Observations that differ: {result['observations_differing']}")
    figures = "  ".join(f"pass^{k} {value:.3f}" for k, value in result["pass_hat_k"].items())
    out.print(f"{figures or 'no episodes'}")
    out.print(f"{result['rewards_agreeing']}/{result['episodes']} rewards agree")
