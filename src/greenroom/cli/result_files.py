"""Result files of Tau Bench and tau2-bench in the place of runs, read into a passing store."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from greenroom.cli.reporting import find_jobs
from greenroom.errors import DataError, InputError

if TYPE_CHECKING:
    from greenroom.config import WorkConfig
    from greenroom.domains.tau2.recorded import Simulation
    from greenroom.store import EvaluationRecord, RunRecord, Store

Env = Annotated[
    str, typer.Option("--env", help="The domain of a result file: it tells which tools write.")
]

NO_WORKERS = (
    "What comes of a result file is not kept, so workers cannot help: leave --processes and "
    "--executor out."
)


def flags_to_repeat(config: WorkConfig, env: str, is_file: bool) -> list[str]:
    """The words that say the same again after a stop; a larger budget is said beside them."""
    from greenroom.benchmark.reproducing import flags_of

    budget = ("max_cost", "max_tokens_total")
    words = flags_of(type(config), config.model_dump(mode="json"), without=budget)
    return [*words, *(["--env", env] if is_file else [])]


@contextmanager
def opened_jobs(
    names: Sequence[str], env: str, *, same_tasks: bool = True
) -> Generator[tuple[Store, Sequence[RunRecord] | Sequence[EvaluationRecord]]]:
    """The runs or evaluations of these names with their store; a name may be a result file.

    With files among them, other tasks in the same place are refused, unless `same_tasks` is off.
    """
    from tempfile import TemporaryDirectory

    from sqlalchemy import URL

    from greenroom.store import RunRecord, Store, open_engine, open_store

    files = [name for name in names if Path(name).is_file()]
    stored = [name for name in names if name not in files]
    kept = open_store() if stored else None
    found = find_jobs(kept, stored) if kept is not None else list[RunRecord]()
    if kept is not None and not files:
        yield kept, found
        return
    runs = {
        name: run for name, run in zip(stored, found, strict=True) if isinstance(run, RunRecord)
    }
    if len(runs) < len(stored):
        raise InputError("A result file is a run: it has nothing in common with an evaluation.")
    like = next(iter(runs.values()), None)
    with TemporaryDirectory(prefix="greenroom-files-") as folder:
        store = Store(open_engine(URL.create("sqlite", database=f"{folder}/runs.db")))
        try:
            for name in names:
                if kept is not None and name in runs:
                    store.runs.create(runs[name])
                    store.runs.add(runs[name].id, list(kept.runs.results(runs[name].id)))
                else:
                    # The whole path where two files have the same name.
                    short = Path(name).name
                    label = name if [Path(n).name for n in names].count(short) > 1 else short
                    runs[name] = _read(store, Path(name), label, env, like)
            wanted = [runs[name] for name in names]
            if same_tasks:
                _check_same_tasks(store, wanted)
            yield store, wanted
        finally:
            store.close()


def _read(store: Store, path: Path, label: str, env: str, like: RunRecord | None) -> RunRecord:
    from datetime import UTC, datetime

    from greenroom._version import __version__
    from greenroom.benchmark.simulation_records import simulation_records
    from greenroom.domains.plugins import TAU2, find_plugin
    from greenroom.domains.tools import Toolset
    from greenroom.reports.tau_bench import read_tau_bench
    from greenroom.store import RunRecord

    simulations = _simulations(path)
    split, pack = "test", {"name": "result file", "version": ""}
    if simulations:
        env, split, pack = simulations[0].domain, "base", {**pack, "edition": TAU2}
        written_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        episodes = simulation_records(simulations, written_at)
    else:
        tools = find_plugin(like.env if like is not None else env).tools or Toolset()
        writing = [name for name, tool in tools.items() if tool.writes]
        episodes = read_tau_bench(path, write_tools=writing)
    alone = any(one.solo for one in simulations or ())
    options = (
        like.config.get("env_options") if like is not None else {"solo": True} if alone else {}
    )
    # A file does not say what it was played on; `_check_same_tasks` compares the tasks.
    run = RunRecord(
        id=f"file {path}",
        name=label,
        created_at=datetime.now(UTC),
        status="complete",
        greenroom_version=__version__,
        env=like.env if like is not None else env,
        task_split=like.task_split if like is not None else split,
        agent_strategy="file",
        task_indices=sorted({episode.task_index for episode in episodes}),
        num_trials=1 + max((episode.trial for episode in episodes), default=0),
        pack=like.pack if like is not None else pack,
        config={"env_options": options or {}},
    )
    store.runs.create(run)
    store.runs.add(run.id, episodes)
    return run


def _simulations(path: Path) -> list[Simulation] | None:
    """The episodes of a file of tau2-bench; None for any other file."""
    from greenroom.benchmark.simulations import load_simulations

    try:
        return load_simulations(path)
    except DataError:
        if path.suffix == ".gz":
            raise
        return None  # the reader of Tau Bench's files says what is wrong with it


def _check_same_tasks(store: Store, runs: Sequence[RunRecord]) -> None:
    first: dict[int, tuple[str, str]] = {}
    for run in runs:
        for episode in store.runs.results(run.id):
            wish = episode.task.instruction
            said, where = first.setdefault(episode.task_index, (wish, run.name))
            if said and wish and said != wish:
                raise InputError(
                    f"Task {episode.task_index} of '{where}' is another than in '{run.name}': "
                    "they were not played on the same tasks."
                )
