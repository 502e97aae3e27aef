"""Runs at the command line: played, listed, shown, compared, exported and deleted."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import redirect_stdout
from pathlib import Path
from xml.etree import ElementTree

import pytest

from greenroom.cli.app import run_command
from greenroom.cli.tau_bench_run import parse
from greenroom.reports.json_report import parse_report
from greenroom.reports.tau_bench import read_tau_bench
from greenroom.store import Attempt, StoreError, Usage, open_store, this_process
from greenroom.store.schema import SCHEMA_VERSION
from tests.cli.running import Greenroom
from tests.conftest import ROOT
from tests.store.samples import sample_episode

SYNTHETIC = ("run", "--agent-strategy", "synthetic")


@pytest.fixture(scope="module")
def played_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with two runs of the synthetic agent: `good` and `bad`."""
    database = tmp_path_factory.mktemp("played") / "runs.db"
    common = ("--end-index", "30", "--num-trials", "4", "--json")
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()):
        patch.setenv("GREENROOM_DATABASE_URL", f"sqlite:///{database}")
        patch.setenv("GREENROOM_CACHE", str(database.parent / "cache"))
        patch.delenv("GREENROOM_DATA", raising=False)
        for name, success in (("good", 0.9), ("bad", 0.2)):
            option = ("--agent-option", f"success={success}")
            assert run_command([*SYNTHETIC, *common, "--name", name, *option]) == 0
    return database


@pytest.fixture
def played(greenroom: Greenroom, played_runs: Path, tmp_path: Path) -> Greenroom:
    """A copy of the two runs for each test."""
    for part in played_runs.parent.glob("runs.db*"):
        shutil.copy(part, tmp_path)
    return greenroom


def test_a_run_is_played_reported_and_kept(greenroom: Greenroom) -> None:
    shown = greenroom(*SYNTHETIC, "--end-index", 10, "--num-trials", 4, "--name", "first")
    assert shown.status == 0
    assert "first: 40/40 (pass^1" in shown.err
    for words in ("Pass^4", "95 % interval", "Stored as 'first'", "greenroom-retail"):
        assert words in shown.out
    (row,) = greenroom("runs", "list", "--json").json
    assert (row["name"], row["status"], row["finished"], row["planned"]) == (
        "first",
        "complete",
        40,
        40,
    )
    assert "complete" in greenroom("runs", "list").out


def test_no_runs_yet(greenroom: Greenroom) -> None:
    assert greenroom("runs", "list").out.startswith("No runs yet.")
    assert greenroom("runs", "list", "--json").json == []


@pytest.mark.slow
def test_resuming_what_is_complete_plays_nothing(played: Greenroom) -> None:
    before = played("runs", "show", "good", "--json").json
    again = played("resume", "good", "--json")
    assert again.status == 0
    assert again.json["episodes"] == before["episodes"]


def test_every_form_of_export(played: Greenroom, tmp_path: Path) -> None:
    for form, name in (
        ("json", "a.json"),
        ("tau-bench", "b.json"),
        ("markdown", "c.md"),
        ("html", "d.html"),
    ):
        result = played("runs", "export", "good", "--format", form, "-o", tmp_path / name)
        assert (result.status, result.out) == (0, f"Wrote {tmp_path / name}\n")
    report = parse_report((tmp_path / "a.json").read_text())
    assert report.metrics.with_result == 120
    rewards = [episode.reward for episode in report.episodes]
    assert [episode.reward for episode in read_tau_bench(tmp_path / "b.json")] == rewards
    assert "| pass^4 |" in (tmp_path / "c.md").read_text()
    assert (tmp_path / "d.html").read_text().startswith("<!doctype html>")
    printed = played("runs", "export", "good", "--format", "tau-bench").out
    assert printed == (tmp_path / "b.json").read_text() + "\n"
    page = played("runs", "report", "good", "-o", tmp_path / "page.html")
    assert page.status == 0
    assert (tmp_path / "page.html").read_text() == (tmp_path / "d.html").read_text()


@pytest.mark.slow
def test_an_exported_result_file_replays(played: Greenroom, tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    played("runs", "export", "bad", "--format", "tau-bench", "-o", file)
    assert played("replay", file).out.splitlines()[-1] == "120/120 rewards agree"
    option = ("--agent-option", f"file={file}")
    again = played(
        "run", "--agent-strategy", "replay", *option, "--end-index", 30, "--num-trials", 4, "--json"
    )
    before = played("runs", "show", "bad", "--json").json
    assert again.json["metrics"]["conventions"] == before["metrics"]["conventions"]


@pytest.mark.parametrize("name", ["run.eval", "run.atif"])
def test_exported_trajectories_of_other_formats_replay(
    played: Greenroom, tmp_path: Path, name: str
) -> None:
    form = {"run.eval": "inspect", "run.atif": "atif"}[name]
    file = tmp_path / name
    played("runs", "export", "bad", "--format", form, "-o", file)
    assert played("replay", file).out.splitlines()[-1] == "120/120 rewards agree"


@pytest.mark.slow
def test_result_files_stand_in_the_place_of_runs(played: Greenroom, tmp_path: Path) -> None:
    files = {name: tmp_path / f"{name}.json" for name in ("good", "bad")}
    for name, file in files.items():
        played("runs", "export", name, "--format", "tau-bench", "-o", file)
    stored, read = (played("errors", one, "--json").json for one in ("bad", files["bad"]))
    assert read == stored
    expected = played("compare", "good", "bad", "--json").json["comparisons"][0]
    for pair in ((files["good"], files["bad"]), ("good", files["bad"]), (files["good"], "bad")):
        (found,) = played("compare", *pair, "--json").json["comparisons"]
        assert (found["verdict"], found["differences"]) == (
            expected["verdict"],
            expected["differences"],
        )
    rows = json.loads(files["bad"].read_text())
    rows[0]["info"]["task"]["instruction"] = "Another wish."
    files["bad"].write_text(json.dumps(rows))
    refused = played("compare", "good", files["bad"])
    assert refused.status == 2
    assert "they were not played on the same tasks" in refused.err


def test_errors_are_explained(played: Greenroom) -> None:
    result = played("errors", "bad", "--json").json
    assert result["failures"] == sum(result["by_kind"].values()) > 60
    shown = played("errors", "bad", "--limit", 3).out
    assert f"{result['failures']} failures" in shown
    assert result["diagnoses"][0]["explanation"] in shown
    assert f"... and {result['failures'] - 3} more" in shown
    played("run", "--end-index", 2, "--name", "perfect")
    assert played("errors", "perfect").out == "No failures in perfect.\n"


@pytest.mark.slow
def test_comparing(played: Greenroom, tmp_path: Path) -> None:
    shown = played("compare", "good", "bad")
    assert shown.out.startswith("bad is worse than good: pass^1 ")
    assert "McNemar" in shown.out
    result = played("compare", "bad", "good", "--json").json
    assert result["comparisons"][0]["verdict"] == "better"
    file = tmp_path / "comparison.md"
    assert played("compare", "good", "bad", "-o", file).status == 0
    assert file.read_text() == played("compare", "good", "bad", "--markdown").out
    assert file.read_text().startswith("**bad is worse than good")
    with_errors = played("compare", "good", "bad", "--errors", "as-failures", "--json").json
    assert with_errors["convention"] == "errors_as_failures"
    assert played("compare", "good", "bad", "--fail-on-regression").status == 1
    assert played("compare", "bad", "good", "--fail-on-regression").status == 0
    assert played("compare", "good", "bad", "-o", tmp_path / "x.json").status == 0
    assert json.loads((tmp_path / "x.json").read_text())["kind"] == "greenroom.comparison"
    assert "is no form of a report" in played("compare", "good", "bad", "-o", "x.pdf").err


def test_a_comparison_plans_for_a_difference_that_is_given(played: Greenroom) -> None:
    again = ("--agent-option", "success=0.9", "--seed", 11, "--end-index", 30, "--num-trials", 4)
    played(*SYNTHETIC, *again, "--name", "again")
    shown, other = (
        played("compare", "good", "again", "--json", *more).json["comparisons"][0]["sensitivity"]
        for more in ((), ("--detect", 0.2))
    )
    assert (shown["detect"], other["detect"]) == (0.05, 0.2)
    assert shown["tasks_needed"] > 4 * other["tasks_needed"]
    assert played("compare", "good", "again", "--detect", 0).status == 2


CRASHER = """
from greenroom.agents import AgentContext, Stage


class Crasher:
    def __init__(self, context: AgentContext) -> None:
        self._crashes = context.trial == context.task_index % 4

    async def play(self, stage: Stage) -> None:
        if self._crashes:
            raise ValueError("the agent choked on its own answer")
"""


def test_crashes_are_told_first_and_compared_as_failures(played: Greenroom, tmp_path: Path) -> None:
    (tmp_path / "crasher.py").write_text(CRASHER)
    agent = ("--agent-strategy", f"{tmp_path / 'crasher.py'}:Crasher")
    report = played("run", *agent, "--num-trials", 4, "--end-index", 30, "--name", "crashing").out
    name, headline, crashes, *_ = report.splitlines()
    assert (name, headline.startswith("Solved 0 %")) == ("crashing", True)
    assert crashes.startswith("30 episodes of 120 crashed in the agent's own code by ValueError")
    lines = played("compare", "good", "crashing").out.splitlines()
    assert lines[0].startswith("crashing is worse than good: pass^1 0.00 against ")
    assert "30 episodes of crashing crashed: they count as failures." in lines
    assert any(line.startswith("Coverage: 100 % in each run, so the verdict is") for line in lines)


@pytest.mark.slow
def test_gates_slices_and_tables_of_runs(played: Greenroom, tmp_path: Path) -> None:
    held = played("runs", "show", "good", "--gate", "pass^1>=0.8", "--gate", "errors<=0")
    assert (held.status, "Gate passed pass^1>=0.8" in held.out) == (0, True)
    failed = played("runs", "show", "bad", "--gate", "pass^4>=0.8", "--json")
    assert (failed.status, failed.json["gates"][0]["passed"]) == (1, False)
    assert played("runs", "show", "bad", "--gate", "pas^1>=0.8").status == 2
    by = ("--by", "tool", "--by", "kind", "--by", "tag")
    shown = played("runs", "show", "bad", *by, "--all")
    for words in ("By tool", "By kind of failure", "cancel_pending_order", "Error rate", "By tag"):
        assert words in shown.out
    assert "Unknown kind of slice 'colour'" in played("runs", "show", "bad", "--by", "colour").err
    for name in ("e.csv", "e.jsonl", "e.parquet", "e.xml"):
        written = played("runs", "export", "bad", "-o", tmp_path / name)
        assert (written.status, written.out) == (0, f"Wrote {tmp_path / name}\n")
    assert len((tmp_path / "e.jsonl").read_text().splitlines()) == 120
    header, *rows = csv.reader(io.StringIO((tmp_path / "e.csv").read_text()))
    assert len(rows) == 120
    assert {"task_index", "trial", "outcome", "reward", "task.instruction"} <= set(header)
    suite = ElementTree.parse(tmp_path / "e.xml").getroot()[0]
    assert suite.attrib["tests"] == "120"
    assert int(suite.attrib["failures"]) > 60


@pytest.mark.parametrize("runs", [["good"], ["good", "good"], ["good", "bad", "good"]])
def test_a_comparison_needs_different_runs(played: Greenroom, runs: list[str]) -> None:
    result = played("compare", *runs)
    assert (result.status, "at least two different ones" in result.err) == (2, True)


def test_runs_on_different_data_are_not_compared(played: Greenroom, tmp_path: Path) -> None:
    played("generate", "--tasks", 5, "-o", tmp_path / "pack")
    played("run", "--data", tmp_path / "pack", "--name", "elsewhere")
    result = played("compare", "good", "elsewhere")
    assert (result.status, "No task is equal in both" in result.err) == (2, True)


def test_deleting_asks_first(played: Greenroom, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([False, True])

    def confirm(question: str) -> bool:
        assert "Delete 'bad' with 120 episodes?" in question
        return next(answers)

    result = played("runs", "delete", "bad")
    assert (result.status, "pass --yes" in result.err) == (2, True)
    monkeypatch.setattr("typer.confirm", confirm)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    assert played("runs", "delete", "bad").status != 0
    assert len(open_store().runs.all()) == 2
    assert played("runs", "delete", "bad").out == "Deleted bad\n"
    assert played("runs", "delete", "good", "--yes").status == 0
    assert played("runs", "list", "--json").json == []


def test_the_store_is_shown_and_backed_up(played: Greenroom, tmp_path: Path) -> None:
    facts = played("store", "show", "--json").json
    assert (facts["runs"], facts["episodes"], facts["schema"]) == (2, 240, SCHEMA_VERSION)
    assert "runs: 2" in played("store", "show").out
    assert played("store", "backup", tmp_path / "copy.db").status == 0
    assert played("store", "backup", tmp_path / "copy.db").status == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["runs", "show", "god"], "Unknown run 'god'. Did you mean 'good'"),
        (["runs", "export", "nope"], "Unknown run 'nope'"),
        (["resume", "nope"], "Unknown run 'nope'"),
        (["errors", "nope"], "Unknown run 'nope'"),
        (["compare", "good", "nope"], "Unknown run 'nope'"),
        (["run", "--name", "good"], "There is a run named 'good' already"),
        (["run", "--num-trials", "-1"], "--num-trials should be greater than or equal to 1"),
        (["runs", "export", "good", "--format", "pdf"], "pdf"),
        (["runs", "report", "good", "-o", "/proc/no/page.html"], "There is no directory"),
    ],
)
def test_bad_input_loses_nothing(played: Greenroom, arguments: list[str], words: str) -> None:
    result = played(*arguments)
    assert result.status == 2, result
    assert words in result.err
    assert [run.name for run in open_store().runs.all()] == ["bad", "good"]


def test_a_database_of_a_newer_version(
    greenroom: Greenroom, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from sqlalchemy import text

    store = open_store()
    with store.engine.begin() as connection:
        connection.execute(text("UPDATE meta SET value = '7'"))
    store.close()
    before = (tmp_path / "runs.db").read_bytes()
    result = greenroom("runs", "list")
    assert (result.status, "newer Greenroom" in result.err) == (2, True)
    assert (tmp_path / "runs.db").read_bytes() == before
    monkeypatch.setenv("GREENROOM_DATABASE_URL", "sqlite:////proc/nowhere/runs.db")
    assert greenroom("runs", "list").status == 2
    with pytest.raises(StoreError):
        open_store()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("signals", "status"),
    [([signal.SIGINT], 130), ([signal.SIGINT] * 5, 130), ([signal.SIGTERM], 143)],
)
def test_a_signal_ends_it_cleanly_and_says_how_to_go_on(
    tmp_path: Path, signals: list[signal.Signals], status: int
) -> None:
    command = [sys.executable, "-m", "tests.cli.interrupted", str(tmp_path / "ready")]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while not (tmp_path / "ready").exists() and process.poll() is None:
        pass
    for number in signals:
        os.kill(process.pid, number)
        time.sleep(0.02)
    _, err = process.communicate(timeout=30)
    assert process.returncode == status, err
    assert "of 288 episodes are finished and stored. Go on with: greenroom resume long" in err
    assert "Traceback" not in err
    (run,) = open_store().runs.all()
    assert run.status == "interrupted"
    kept = len(open_store().runs.finished(run.id))
    assert 0 < kept < 288
    assert run_command(["resume", "long"]) == 0
    assert open_store().runs.find("long").status == "complete"


@pytest.mark.slow
def test_a_run_is_watched_from_another_process(greenroom: Greenroom, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.cli.interrupted", str(tmp_path / "ready")]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    while not (tmp_path / "ready").exists() and process.poll() is None:
        pass
    watched = greenroom("runs", "watch", "long", "--interval", 0.05)
    process.communicate(timeout=60)
    assert watched.status == 0
    assert watched.out == "long is complete: 288 of 288 episodes have a result\n"
    assert "long: 288/288 (pass^1 1.00" in watched.err
    assert f"/{process.pid} works on it." in watched.err


def test_what_takes_long_is_told_while_a_run_is_watched(
    greenroom: Greenroom, capsys: pytest.CaptureFixture[str]
) -> None:
    from sqlalchemy import text

    from greenroom.benchmark import check_config, start_run
    from greenroom.cli.following import Follower
    from greenroom.cli.long_cells import OTHERS_PLAY, LongCellsTeller
    from greenroom.cli.operating import RUNS

    store = open_store()
    run, _ = start_run(store, check_config({"end_index": 5, "max_cost": 4.0}), name="stuck")
    owner = this_process()
    keys = [(task, 0) for task in range(5)]
    store.runs.workers.join(run.id, run.name, owner, lambda _: keys)
    store.runs.workers.claim(run.id, owner, 4)
    follower, teller = Follower(store.runs, run), LongCellsTeller(RUNS, OTHERS_PLAY)

    def claimed(seconds: int, task: int) -> None:
        with store.engine.begin() as connection:
            older = f"UPDATE cells SET claimed_at = claimed_at - {seconds} WHERE item = {task}"
            connection.execute(text(older))

    def told() -> list[str]:
        teller.tell(follower.look().long)
        return capsys.readouterr().err.splitlines()

    claimed(200, 2)
    assert told() == [], "nobody knows how long such a task takes"
    claimed(200, 2)
    place = f"has been with {owner.host}/{owner.pid} for"
    said = told()
    assert said[0] == f"Task 2, trial 0 {place} 7 min; no other has a result yet."
    assert "end that process" in said[1]
    assert "--max-episode-seconds" in said[1]
    assert told() == [], "once each"
    store.runs.add(run.id, [sample_episode(0, 0)])
    claimed(100, 1)
    assert told() == [f"Task 1, trial 0 {place} 100 s; others took 500 ms on average."]
    usage = {"agent": Usage(calls=1, cost=0.5)}
    store.runs.add_attempt(run.id, Attempt((1, 0), "2026-01-02T03:04:01", 1.0, "broke", usage))
    for _ in range(2):
        assert follower.look().note("").startswith("$0.75 of $4.00, ")
    store.runs.controls.change(run.id, config={"max_cost": 9.0})
    asked = json.loads(greenroom("runs", "watch", "stuck", "--json").out)
    assert (asked["finished"], asked["planned"], asked["paused"]) == (1, 5, False)
    assert (asked["cost"], asked["max_cost"]) == (0.75, 9.0)
    assert [one["task"] for one in asked["taking_long"]] == [2, 1]
    (worker,) = asked["workers"]
    assert (worker["pid"], worker["claimed"]) == (owner.pid, 3)
    store.close()


def test_what_hangs_is_told_by_the_command_that_plays_it(
    greenroom: Greenroom, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from greenroom.cli import long_cells

    for name in ("_LONG_AGO", "_AT_LEAST", "_WITHOUT_RESULTS", "_LOOK_SECONDS"):
        monkeypatch.setattr(long_cells, name, 0.01)
    agent = tmp_path / "agent.py"
    agent.write_text("import anyio\n\n\nasync def play(stage):\n    await anyio.sleep(0.3)\n")
    play = ("run", "--agent-strategy", f"{agent}:play", "--task-ids", 1, "--name", "slow")
    done = greenroom(*play)
    assert done.status == 0, done.err
    assert "Task 1, trial 0 has been with" in done.err
    assert "press Ctrl-C: 'greenroom resume slow' begins it again" in done.err


def test_attempts_without_a_result_are_listed(
    greenroom: Greenroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    from greenroom.benchmark import check_config, start_run

    store = open_store()
    run, _ = start_run(store, check_config({"end_index": 5}), name="tried")
    assert "Every attempt" in greenroom("runs", "attempts", "tried").out
    usage = {"agent": Usage(calls=1, cost=0.25)}
    for task in (1, 2):
        attempt = Attempt((task, 0), f"2026-01-02T03:04:0{task}", 1.5, f"refused {task}", usage)
        store.runs.add_attempt(run.id, attempt)
    shown = greenroom("runs", "attempts", "tried").out
    assert "refused 1" in shown
    assert "2026-01-02 03:04:02" in shown
    (only,) = json.loads(greenroom("runs", "attempts", "tried", "--task", 2, "--json").out)
    assert (only["task"], only["error"], only["usage"]["agent"]["cost"]) == (2, "refused 2", 0.25)
    monkeypatch.setattr("greenroom.cli.attempts._MOST_ROWS", 1)
    shown = greenroom("runs", "attempts", "tried").out
    assert "refused 1" not in shown
    assert "the last 1 of 2: --json has all, and --task those of one task" in shown
    store.close()


def test_a_run_that_stands_still_is_told(greenroom: Greenroom) -> None:
    from greenroom.benchmark import check_config, start_run

    start_run(open_store(), check_config({"end_index": 3}), name="asleep")
    result = greenroom("runs", "watch", "asleep")
    assert (result.status, result.out) == (
        1,
        "asleep is interrupted: 0 of 3 episodes have a result\n",
    )


def test_tau_benchs_command_line_takes_our_flags_and_those_of_the_agent() -> None:
    flags = parse(
        [
            "--agent-strategy",
            "fastworkflow",
            "--provider",
            "openai",
            "--max-steps",
            "7",
            "--use-reasoning",
            "false",
            "--bridge",
            "internal",
            "--workflow-path",
            "here",
            "--max-retries",
            "1",
            "--clear-cache",
            "--task-ids",
            "1",
            "2",
        ]
    )
    assert (flags.model_provider, flags.max_num_steps, flags.max_retries) == ("openai", 7, 1)
    assert flags.agent_options == [
        "use_reasoning=false",
        "bridge=internal",
        "workflow_path=here",
    ]
    assert (flags.clear_cache, flags.task_ids) == ("true", "1,2")
    assert (flags.user_model, flags.max_concurrency) == ("gpt-4o", 1)


@pytest.mark.slow
def test_tau_benchs_command_line(tmp_path: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(ROOT / "run.py"), *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    for ids in (["1", "2", "3"], ["1,2,3"]):
        folder = f"results-{len(ids)}"
        done = run(
            "--agent-strategy",
            "oracle",
            "--env",
            "retail",
            "--task-ids",
            *ids,
            "--num-trials",
            "2",
            "--model",
            "some/model",
            "--temperature",
            "0.5",
            "--log-dir",
            folder,
            "--seed",
            "4",
        )
        assert done.returncode == 0, done.stderr
        (file,) = (tmp_path / folder).glob("*.json")
        assert file.name.startswith("oracle-some-model-0.5_range_0--1_user-")
        assert done.stdout.splitlines()[-1] == f"Results saved to {folder}/{file.name}"
        rows = json.loads(file.read_text())
        assert [(row["task_id"], row["trial"], row["reward"]) for row in rows] == [
            (task, trial, 1.0) for task in (1, 2, 3) for trial in (0, 1)
        ]
        assert {"task_id", "reward", "info", "traj", "trial"} == set(rows[0])
    unknown = run("--agent-strategy", "nobody")
    assert (unknown.returncode, "Unknown agent strategy" in unknown.stderr) == (2, True)
    assert run("--num-trials", "0", "--agent-strategy", "oracle").returncode == 2
