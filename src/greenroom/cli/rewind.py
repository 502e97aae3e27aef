"""Going on from a turn of a stored episode, for `greenroom replay --from-turn`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from greenroom.cli.output import echo, print_json, printable

if TYPE_CHECKING:
    from greenroom.benchmark.restoring import ObservationDifference
    from greenroom.benchmark.rewind_runs import RewindOutcome
    from greenroom.store import RunRecord, Store


def go_on(
    store: Store,
    run: RunRecord,
    task: int,
    *,
    trial: int,
    turn: int | None,
    step: int | None,
    trials: int,
    changes: Mapping[str, Any],
    again: bool,
    json: bool,
) -> None:
    """Play trials from a place in a stored episode, and say how often they solve the task."""
    from greenroom.benchmark import play_run
    from greenroom.benchmark.rewind_runs import rewind_outcome, start_rewind
    from greenroom.cli.working import check_any, work
    from greenroom.trials import remove_if_refused

    started = start_rewind(
        store,
        run.id,
        task,
        trial=trial,
        turn=turn,
        step=step,
        trials=trials,
        changes=changes,
        again=again,
    )
    rewound = started.run
    if not json:
        _tell_differences(started.differences)
    earlier = store.runs.summaries(rewound.id)
    with remove_if_refused(store.runs, rewound):
        work(
            store.runs,
            rewound,
            partial(play_run, store, rewound, started.context),
            "solved",
            lambda episode: float(episode.solved),
            before=[float(one.solved) for one in earlier if one.reward is not None],
            noun="trials",
            shown=not json and not started.context.interactive,
        )
    outcome = rewind_outcome(store, store.runs.find(rewound.id))
    if json:
        differences = [vars(one) for one in started.differences]
        print_json(outcome.model_dump(mode="json") | {"differences": differences})
    else:
        echo(_report(outcome))
    check_any(store.runs, rewound, "trial")


def _tell_differences(differences: Sequence[ObservationDifference]) -> None:
    if differences:
        first = differences[0]
        echo(
            f"note: {len(differences)} of the recorded observations are answered otherwise today. "
            f"The first is that of step {first.step + 1} ({printable(first.tool)}).",
            err=True,
        )


def _report(outcome: RewindOutcome) -> str:
    from greenroom.reports.texts import kind_words
    from greenroom.store import outcome_info

    point, stored, name = outcome.point, outcome.stored, outcome.run_name
    place = f"Task {point.task_index}, trial {point.trial} of '{point.run_name}'"
    why = f": {stored.explanation}" if stored.explanation else ""
    outcomes = [f"{n} {outcome_info(one).label}" for one, n in outcome.outcomes.items()]
    kinds = [f"{n} {kind_words(one)[0]}" for one, n in outcome.kinds.items()]
    lines = [
        f"{place} from turn {point.turn}, after {point.steps} steps, agent {outcome.agent}",
        f"Stored trial: {outcome_info(stored.outcome).label}{why}",
        outcome.sentence,
        f"Outcomes: {', '.join(outcomes)}",
        *([f"Failures: {', '.join(kinds)}"] if kinds else []),
        f"Stored as '{name}'. As a page: greenroom runs report {name} -o report.html",
    ]
    return printable("\n".join(lines))
