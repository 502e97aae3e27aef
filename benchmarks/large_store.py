"""Every command on 100,000 episodes and 100,000 rows: how long it takes, and in how much memory.

A few trials are played and multiplied in the database. Their records have what models leave behind:
messages, tokens, times.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import anyio
from sqlalchemy import URL, text

from benchmarks.measures import Measure
from greenroom.benchmark import check_config, play_run, start_run
from greenroom.domains.pack_writer import write_pack
from greenroom.domains.plugins import generate_pack
from greenroom.evaluation import check_evaluation_config, run_evaluation, start_evaluation
from greenroom.store import EpisodeRecord, Store, open_engine
from greenroom.trajectories import SpokenStep, write_conversation
from greenroom.util.raw_json import record_text

TASKS, TRIALS = 115, 870
ROWS = 100_000
SECONDS, MEGABYTES, PAGE_MEGABYTES = 60.0, 500.0, 20.0
REPORT_SECONDS, REPORT_MEGABYTES = 10.0, 300.0
REPORTS = ("runs show large", "runs report large -o page.html")
"""What is promised of a run's report."""
COMMANDS = (
    "runs list",
    *REPORTS,
    "runs export large -o run.json",
    "runs export large -o run.parquet",
    "runs export large --format tau-bench -o tau.json",
    "compare large other",
    "errors large",
    "trend other",
    "testset import rows.jsonl --name again",
    "evals show rows",
    "evals report rows -o rows.html",
    "evals export rows -o rows.json",
    "compare rows others",
)
"""The commands that differ in what they read and write; others are between them."""

_PLAYED_EPISODES, _EVALUATED_ROWS = 1_000, 300
_MAIN = "from greenroom.cli import main; main()"


def large_jobs() -> Iterator[Measure]:
    """Runs and evaluations of 100,000 cells. Each command has a process of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_runs(folder, ("large", "other"))
        make_evaluations(folder, ("rows", "others"))
        for command in COMMANDS:
            seconds, megabytes = measured(command, folder)
            what, time, room = f"100,000 cells: {command}", SECONDS, MEGABYTES
            if command in REPORTS:
                time, room = REPORT_SECONDS, REPORT_MEGABYTES
            yield Measure(what, "", "", seconds, " s CPU", at_most=time)
            yield Measure(f"{what}: memory", "", "", megabytes, " MB", at_most=room)
        for page in ("page.html", "rows.html"):
            size = (folder / page).stat().st_size / 1e6
            what = f"100,000 cells: size of {page}"
            yield Measure(what, "", "", size, " MB", at_most=PAGE_MEGABYTES)


def measured(command: str, folder: Path) -> tuple[float, float]:
    """The CPU time and the largest memory of a command."""
    process = subprocess.Popen(
        [sys.executable, "-c", _MAIN, *command.split()],
        cwd=folder,
        env=os.environ | {"GREENROOM_DATABASE_URL": f"sqlite:///{folder / 'jobs.db'}"},
        stdout=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0, f"{command} failed"
    unit = 1e3 if sys.platform == "linux" else 1e6
    return used.ru_utime + used.ru_stime, used.ru_maxrss / unit


def make_runs(
    folder: Path, names: Sequence[str], *, tasks: int = TASKS, trials: int = TRIALS
) -> None:
    """Make runs of so many tasks and trials, complete, of a pack of their own."""
    store, pack = open_folder(folder), folder / f"pack-{tasks}"
    write_pack(pack, [generate_pack("retail", seed=1, tasks=tasks, difficulty="easy")])
    played = max(1, min(trials, _PLAYED_EPISODES // tasks))
    for seed, name in enumerate(names, 1):
        config = check_config(
            {
                "agent_strategy": "synthetic",
                "data": str(pack),
                "num_trials": played,
                "seed": seed,
            }
        )
        run, context = start_run(store, config, name=name)
        anyio.run(play_run, store, run, context)
        bodies = [
            {"job": run.id, "item": one.task_index, "trial": one.trial, "body": _body(one, policy)}
            for policy in [run.policy]
            for one in store.runs.results(run.id)
        ]
        with store.engine.begin() as connection:
            connection.execute(text(_WITH_BODY), bodies)
            connection.execute(text(_WITH_USAGE), {"job": run.id, "usage": _USAGE})
        counted = [
            {"job": run.id, "item": one.task_index, "trial": one.trial, "summary": summary}
            for one in store.runs.results(run.id)
            for summary in [record_text(store.runs.kind.summary(one))]
        ]
        with store.engine.begin() as connection:
            connection.execute(text(_WITH_SUMMARY), counted)
        whole = {"num_trials": trials, "config": {**run.config, "num_trials": trials}}
        _multiply(store, run.id, "trial", played, trials)
        store.runs.update(run.model_copy(update=whole))
    store.close()


def make_evaluations(folder: Path, names: Sequence[str], *, rows: int = ROWS) -> None:
    """Make evaluations of a test set with so many rows, complete."""
    file = folder / "rows.jsonl"
    with file.open("w") as out:
        for number in range(rows):
            question = f"Question {number}: " + f"{number:08} is the number. " * 40
            expected = question if number % 3 else "something else"
            out.write(json.dumps({"question": question, "expected": expected}) + "\n")
    (folder / "app.py").write_text(_WORKFLOW)
    store = open_folder(folder)
    for name in names:
        config = check_evaluation_config(
            {
                "workflow": f"{folder / 'app.py'}:echo",
                "test_set": str(file) if name == names[0] else "rows",
                "evaluators": ["exact_match", "contains"],
                "rows": min(rows, _EVALUATED_ROWS),
            }
        )

        async def evaluate(name: str = name) -> str:
            evaluation, context = await start_evaluation(store, config, name=name)  # noqa: B023
            await run_evaluation(store, evaluation, context)
            return evaluation.id

        evaluation = store.evaluations.find(anyio.run(evaluate))
        _multiply(store, evaluation.id, "item", evaluation.row_count, rows)
        store.evaluations.update(evaluation.model_copy(update={"row_count": rows}))
    store.close()


def open_folder(folder: Path) -> Store:
    """The store that the commands use there."""
    return Store(open_engine(URL.create("sqlite", database=str(folder / "jobs.db"))))


def _body(episode: EpisodeRecord, policy: str) -> str:
    steps = [
        SpokenStep(one.action.name, dict(one.action.kwargs), one.observation)
        for one in episode.steps
    ]
    messages = write_conversation(policy, episode.opening, steps)
    return json.dumps({"messages": messages, "steps": [one.model_dump() for one in episode.steps]})


def _multiply(store: Store, job: str, what: str, played: int, wanted: int) -> None:
    """Copy the results of a job until there are as many items or trials as are wanted."""
    other, field = ("trial", "row") if what == "item" else ("item", "trial")
    statement = text(_MORE.format(what=what, other=other, field=field))
    with store.engine.connect() as connection:
        connection.execute(text("PRAGMA synchronous=OFF"))
        connection.commit()
        for more in range(played, wanted, played):
            values = {"job": job, "more": more, "left": min(played, wanted - more)}
            connection.execute(statement, values)
        connection.commit()


_USAGE = (
    '{"agent":{"calls":9,"prompt_tokens":41234,"completion_tokens":812,"cost":0.1234},'
    '"user":{"calls":5,"prompt_tokens":3456,"completion_tokens":123,"cost":0.0123}}'
)
_WITH_BODY = (
    "UPDATE results SET body = :body WHERE job_id = :job AND item = :item AND trial = :trial"
)
_WITH_SUMMARY = (
    "UPDATE results SET summary = :summary WHERE job_id = :job AND item = :item AND trial = :trial"
)
_WITH_USAGE = """
UPDATE results SET usage = :usage, cost = 0.1357, record = json_set(record,
  '$.usage', json(:usage), '$.turn_seconds', json('[1.25,2.5,0.75,3.125]'),
  '$.model_seconds', json('{"agent":[0.5,0.75,1.5,0.25],"user":[0.5,0.25]}'))
WHERE job_id = :job
"""
_MORE = """
INSERT INTO results (job_id, {what}, {other}, outcome, score, started_at, seconds, attempts, cost,
  usage, error, summary, record, body)
SELECT job_id, {what} + :more, {other}, outcome, score, started_at, seconds + {what} * 0.001,
  attempts, cost, usage, error, summary, json_set(record, '$.{field}', {what} + :more), body
FROM results WHERE job_id = :job AND {what} < :left
"""
_WORKFLOW = """
from greenroom import workflow


@workflow
def echo(question: str) -> str:
    return question
"""


if __name__ == "__main__":
    where, size, shape = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    tasks, trials = map(int, size.split("x"))
    where.mkdir(exist_ok=True)
    if trials:
        make_runs(where, shape, tasks=tasks, trials=trials)
    else:
        make_evaluations(where, shape, rows=tasks)
