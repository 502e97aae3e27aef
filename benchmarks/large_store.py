"""100,000 episodes shown, paged, exported and compared: how long, and in how much memory.

The store is made by playing a few trials and multiplying them in the database.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import anyio
from sqlalchemy import URL, text

from benchmarks.measures import Measure
from greenroom.benchmark import check_config, play_run, start_run
from greenroom.store import Store, open_engine

PLAYED_TRIALS = 4
EPISODES = 100_000
SECONDS, MEGABYTES, PAGE_MEGABYTES = 60.0, 500.0, 20.0
COMMANDS = (
    "runs list",
    "runs show large",
    "runs report large -o page.html",
    "runs export large -o run.json",
    "runs export large -o run.jsonl",
    "runs export large -o run.csv",
    "runs export large -o run.parquet",
    "runs export large --format tau-bench -o tau.json",
    "errors large",
    "compare large other",
)


def large_runs() -> Iterator[Measure]:
    """Every command on a run of 100,000 episodes, each in a process of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_store(folder / "runs.db", EPISODES, ("large", "other"))
        for command in COMMANDS:
            seconds, megabytes = _measured(command, folder)
            what = f"{EPISODES:,} episodes: {command}"
            yield Measure(what, f"{seconds:.0f} s CPU", "", seconds, " s", at_most=SECONDS)
            yield Measure(f"{what}: memory", "", "", megabytes, " MB", at_most=MEGABYTES)
        size = (folder / "page.html").stat().st_size / 1e6
        yield Measure(
            f"{EPISODES:,} episodes: size of the page", "", "", size, " MB", at_most=PAGE_MEGABYTES
        )


def _measured(command: str, folder: Path) -> tuple[float, float]:
    """The CPU time and the largest memory of a command."""
    run = "from greenroom.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", run, *command.split()],
        cwd=folder,
        env=os.environ | {"GREENROOM_DATABASE_URL": f"sqlite:///{folder / 'runs.db'}"},
        stdout=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0, f"{command} failed"
    unit = 1e3 if sys.platform == "linux" else 1e6
    return used.ru_utime + used.ru_stime, used.ru_maxrss / unit


def make_store(file: Path, episodes: int, names: tuple[str, ...] = ("large",)) -> None:
    """Make a store with a run of at least so many episodes under each name."""
    store = Store(open_engine(URL.create("sqlite", database=str(file))))
    for number, name in enumerate(names):
        config = check_config(
            {"agent_strategy": "synthetic", "num_trials": PLAYED_TRIALS, "seed": number + 1}
        )
        run, prepared = start_run(store, config, name=name)
        anyio.run(play_run, store, run, prepared)
        times = -(-episodes // run.planned)
        with store.engine.begin() as connection:
            connection.execute(text(_USED), {"job": run.id, "usage": _USAGE})
            for block in range(1, times):
                more = {"job": run.id, "more": block * PLAYED_TRIALS, "trials": PLAYED_TRIALS}
                connection.execute(text(_MULTIPLIED), more)
        store.runs.update(run.model_copy(update={"num_trials": times * PLAYED_TRIALS}))
    store.close()


_USAGE = (
    '{"agent":{"calls":9,"prompt_tokens":41234,"completion_tokens":812,"cost":0.1234},'
    '"user":{"calls":5,"prompt_tokens":3456,"completion_tokens":123,"cost":0.0123}}'
)
_USED = """
UPDATE results SET usage = :usage, cost = 0.1357, record = json_set(record,
  '$.usage', json(:usage), '$.turn_seconds', json('[1.25,2.5,0.75,3.125]'),
  '$.model_seconds', json('{"agent":[0.5,0.75,1.5,0.25],"user":[0.5,0.25]}'))
WHERE job_id = :job
"""
_MULTIPLIED = """
INSERT INTO results
SELECT job_id, item, trial + :more, outcome, score, started_at, seconds + trial * 0.001, attempts,
  cost, usage, error, summary, json_set(record, '$.trial', trial + :more), body
FROM results WHERE job_id = :job AND trial < :trials
"""


if __name__ == "__main__":
    make_store(Path(sys.argv[1]), int(sys.argv[2]), tuple(sys.argv[3:]) or ("large",))
