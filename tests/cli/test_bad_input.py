"""Whatever is wrong with what a person gives: a line or two, status 2, and nothing half-written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from greenroom.domains.pack_writer import write_pack
from greenroom.domains.retail.generator import builtin_pack
from tests.cli.running import Greenroom


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    path = tmp_path / "pack"
    write_pack(path, [builtin_pack()])
    return path


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "--env", "ritail"], "Did you mean 'retail'"),
        (["run", "--agent-strategy", "orakle"], "Did you mean 'oracle'"),
        (["run", "--agent-option", "x=1"], "Unknown setting of the oracle agent 'x'"),
        (["run", "--agent-option", "x"], "--agent-option takes NAME=VALUE"),
        (["run", "--num-trials", "0"], "--num-trials should be greater than or equal to 1"),
        (
            ["run", "--max-concurrency", "-1"],
            "--max-concurrency should be greater than or equal to 1",
        ),
        (["run", "--task-split", "tset"], "Did you mean 'test'"),
        (["run", "--task-ids", "96"], "There is no task 96"),
        (["run", "--task-ids", "x"], "no task with the id 'x'"),
        (["run", "--start-index", "9", "--end-index", "3"], "is not within the 96 tasks"),
        (["run", "--env", "mock"], "ships without data"),
        (["run", "--data", "nowhere"], "There is no directory 'nowhere'"),
        (["tasks", "show", "96"], "There is no task 96"),
        (["tasks", "show", "0", "--env", "no"], "Known: airline, "),
        (["generate", "--env", "mock", "-o", "x"], "Unknown env to generate 'mock'"),
        (["generate", "--difficulty", "hrad", "-o", "x"], "Did you mean 'hard'"),
        (["generate", "--tasks", "0", "-o", "x"], "1 to 200,000 tasks"),
        (["data", "pull", "tau3"], "Unknown source 'tau3'"),
        (["data", "import", "nowhere", "-o", "x"], "nowhere"),
        (["replay", "nowhere.json"], "nowhere.json is missing"),
        (["conformance", "nowhere.jsonl", "--data", "x"], "nowhere.jsonl is missing"),
    ],
)
def test_wrong_names_and_numbers(
    greenroom: Greenroom,
    arguments: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    result = greenroom(*arguments)
    assert result.status == 2
    assert words in result.err
    assert len(result.err.strip().splitlines()) <= 2
    assert result.out == ""
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("file", ["retail/db/orders.json", "retail/tasks/test.json"])
def test_broken_json_in_a_pack(greenroom: Greenroom, pack: Path, file: str) -> None:
    path = pack / file
    path.write_text(path.read_text()[:-20])
    result = greenroom("run", "--data", pack)
    assert result.status == 2
    assert f"{file} is not valid JSON" in result.err
    assert "line" in result.err


def test_a_missing_file_in_a_pack(greenroom: Greenroom, pack: Path) -> None:
    (pack / "retail/policy.md").unlink()
    result = greenroom("run", "--data", pack)
    assert (result.status, "policy.md is missing" in result.err) == (2, True)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_directory_of_ones_own(greenroom: Greenroom, pack: Path) -> None:
    (pack / "retail/db").chmod(0)
    result = greenroom("run", "--data", pack)
    (pack / "retail/db").chmod(0o755)
    assert (result.status, "cannot be read: Permission denied" in result.err) == (2, True)


def test_a_directory_that_cannot_be_read(
    greenroom: Greenroom, pack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deny(self: Path) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "iterdir", deny)
    result = greenroom("run", "--data", pack)
    assert result.status == 2
    assert "retail/db cannot be read: Permission denied" in result.err


def test_a_disk_that_cannot_be_written(
    greenroom: Greenroom, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fail)
    result = greenroom("generate", "--tasks", 3, "-o", tmp_path / "fresh")
    assert result.status == 2
    assert "cannot be written: No space left on device" in result.err
    assert list(tmp_path.iterdir()) == []


def test_a_wheel_with_the_wrong_sha256(greenroom: Greenroom, tmp_path: Path) -> None:
    wheel = tmp_path / "inspect_evals-0.26.0-py3-none-any.whl"
    wheel.write_bytes(b"not the wheel")
    result = greenroom("data", "pull", "tau2", "--wheel", wheel)
    assert result.status == 2
    assert "sha256" in result.err
    assert not (tmp_path / "cache/packs/tau2").exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "line 1 is not valid JSON"),
        ('{"env": "retail"}', "line 1 is no trace: task_index"),
        ('{"env": "retial", "task_index": 0, "steps": []}', "Did you mean 'retail'"),
    ],
)
def test_traces_that_are_none(
    greenroom: Greenroom, pack: Path, tmp_path: Path, content: str, words: str
) -> None:
    file = tmp_path / "traces.jsonl"
    file.write_text(content)
    result = greenroom("conformance", file, "--data", pack)
    assert (result.status, words in result.err) == (2, True), result.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--temperature", "nan"), "--temperature should be a finite number"),
        (("--temperature", "inf"), "--temperature should be a finite number"),
        (("--max-cost", "inf"), "--max-cost should be a finite number"),
        (("--task-ids", "1,2", "--start-index", "1"), "give one or the other"),
        (("--task-ids", "1,2", "--end-index", "5"), "give one or the other"),
        (("--num-trials", "1000000000"), "--num-trials should be less than or equal to 10000"),
        (("--num-trials", "9"), "at most 500 episodes"),
    ],
)
def test_options_that_cannot_be_meant(
    options: tuple[str, ...],
    words: str,
    greenroom: Greenroom,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("greenroom.benchmark.context.MOST_EPISODES", 500)
    result = greenroom("run", *options)
    assert (result.status, words in result.err) == (2, True), result.err
    assert greenroom("runs", "list", "--json").json == [], "nothing is kept"


def test_a_model_that_is_not_asked_is_told(greenroom: Greenroom) -> None:
    play = ("run", "--agent-strategy", "synthetic", "--model", "gpt-4o", "--end-index", "1")
    result = greenroom(*play)
    assert (result.status, "--model is not used" in result.err) == (0, True), result.err


@pytest.mark.slow
def test_a_job_that_is_refused_does_not_keep_its_name(greenroom: Greenroom, tmp_path: Path) -> None:
    app, rows = tmp_path / "app.py", tmp_path / "rows.json"
    rows.write_text('[{"messages": "Hi", "expected": "Hello"}]')
    app.write_text("import nothing_like_it")
    run = ("run", "--workflow", f"{app}:hello", "--end-index", 1)
    for job in (run, ("eval", f"{app}:hello", rows, "--evaluator", "exact_match")):
        refused = greenroom(*job, "--name", "first")
        assert refused.status == 2
        assert "nothing_like_it" in refused.err
    assert greenroom("runs", "list", "--json").json == []
    assert greenroom("evals", "list", "--json").json == []
