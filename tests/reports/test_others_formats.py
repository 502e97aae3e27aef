"""Runs and evaluations in the formats of Inspect and ATIF, read by their own packages."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from atif import Trajectory

import greenroom
from greenroom.agents.replay import load_recordings
from greenroom.errors import DataError, InputError
from greenroom.reports.forms import render
from greenroom.reports.recorded_files import load_trajectories
from greenroom.store import Store
from tests.domains.thermostats import PATH
from tests.reports.sample import (
    empty_report,
    errors_only_report,
    full_report,
    strange_report,
    unpriced_report,
)

ROOT = Path(__file__).parents[2]
INSPECT = ROOT / ".venv-inspect/bin/python"
LOOK = """
import json, sys
from inspect_ai.log import read_eval_log, read_eval_log_sample, read_eval_log_sample_summaries
log = read_eval_log(sys.argv[1])
first = log.samples[0]
again = read_eval_log_sample(sys.argv[1], id=first.id, epoch=first.epoch)
print(json.dumps({
    "status": log.status,
    "model": log.eval.model,
    "metrics": {name: one.value for name, one in log.results.scores[0].metrics.items()},
    "values": [one.scores[log.results.scores[0].name].value if one.scores else None
               for one in sorted(log.samples, key=lambda one: (str(one.id), one.epoch))],
    "roles": [message.role for message in again.messages],
    "tokens": {role: one.total_tokens for role, one in log.stats.role_usage.items()},
    "errors": sum(one.error is not None for one in log.samples),
    "summaries": len(read_eval_log_sample_summaries(sys.argv[1])),
}))
"""


def four(question: str) -> str:
    return "4"


def content(rendered: str | bytes) -> bytes:
    return rendered.encode() if isinstance(rendered, str) else rendered


def look(log: Path) -> dict[str, Any]:
    """What Inspect itself finds in a log."""
    assert INSPECT.exists(), "Inspect is not installed: 'make test' sets up .venv-inspect for it."
    done = subprocess.run([INSPECT, "-c", LOOK, log], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_inspect_opens_the_log_of_a_run(tmp_path: Path) -> None:
    report = full_report(8, 3)
    log = tmp_path / "run.eval"
    log.write_bytes(content(render(report, "inspect")))
    found = look(log)
    assert found["status"] == "success"
    ordered = sorted(report.episodes, key=lambda one: (one.task.id or "", one.trial))
    assert found["values"] == [episode.reward for episode in ordered]
    assert found["metrics"]["pass^1"] == report.metrics.main.pass_hat_k[1].value
    assert found["metrics"]["pass^3"] == report.metrics.main.pass_hat_k[3].value
    assert found["summaries"] == 24
    assert set(found["roles"]) == {"system", "user", "assistant", "tool"}
    agent = sum(episode.usage["agent"].tokens for episode in report.episodes if episode.usage)
    assert found["tokens"].get("agent", 0) == agent


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_inspect_sees_errors_as_errors_and_not_as_zero(tmp_path: Path) -> None:
    report = errors_only_report()
    log = tmp_path / "run.eval"
    log.write_bytes(content(render(report, "inspect")))
    found = look(log)
    assert found["errors"] == len(report.episodes)
    assert set(found["values"]) == {None}


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_inspect_opens_the_log_of_an_evaluation(store: Store, tmp_path: Path) -> None:
    rows = [{"question": "2 + 2", "expected": "4"}, {"question": "3 + 3", "expected": "6"}]
    result = greenroom.evaluate(four, rows, ["exact_match"], store=store)
    log = tmp_path / "evaluation.eval"
    result.save(log)
    found = look(log)
    assert found["values"] == [1.0, 0.0]
    assert found["metrics"] == {"mean": 0.5}


def look_up(question: str) -> str:
    if question == "5 + 5":
        raise ValueError("no such sum")
    return "4"


def test_what_has_no_score_and_what_failed_is_told(store: Store, tmp_path: Path) -> None:
    rows = [
        {"question": "2 + 2", "expected": "4"},
        {"question": "3 + 3", "expected": ""},
        {"question": "5 + 5", "expected": "10"},
    ]
    result = greenroom.evaluate(look_up, rows, ["exact_match"], store=store, max_retries=0)
    log = tmp_path / "evaluation.eval"
    result.save(log)
    with ZipFile(log) as members:
        (score,) = json.loads(members.read("header.json"))["results"]["scores"]
        answered, _, failed = (
            json.loads(members.read(f"samples/{number}_epoch_1.json")) for number in (1, 2, 3)
        )
    assert (score["scored_samples"], score["unscored_samples"]) == (2, 1)
    assert answered["metadata"]["greenroom"]["error"] is None
    assert "no such sum" in failed["metadata"]["greenroom"]["error"]
    assert failed["messages"] == []


LIST = """
import json, sys
from inspect_ai.log import list_eval_logs, read_eval_log, read_eval_log_sample_summaries
found = {}
for info in list_eval_logs(sys.argv[1]):
    log = read_eval_log(info)
    samples = log.samples or []
    found[info.name.rsplit("/", 1)[-1]] = {
        "status": log.status,
        "samples": len(samples),
        "summaries": len(read_eval_log_sample_summaries(info)),
        "calls": sum(len(m.tool_calls or ()) for s in samples for m in s.messages
                     if m.role == "assistant"),
        "errors": sum(one.error is not None for one in samples),
    }
print(json.dumps(found))
"""


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_inspect_lists_and_opens_odd_runs_and_atif_takes_them(store: Store, tmp_path: Path) -> None:
    two_parties = greenroom.run(str(PATH), agent="oracle", store=store, show_progress=False)
    reports = {
        "strange": strange_report(),
        "empty": empty_report(),
        "errors": errors_only_report(),
        "unpriced": unpriced_report(),
        "two-parties": two_parties.report,
    }
    for name, report in reports.items():
        (tmp_path / f"{name}.eval").write_bytes(content(render(report, "inspect")))
        lines = str(render(report, "atif")).splitlines()
        steps = [Trajectory.model_validate_json(line).steps for line in lines]
        assert len(steps) == len(report.episodes)
    done = subprocess.run(
        [INSPECT, "-c", LIST, tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert set(found) == {f"{name}.eval" for name in reports}
    for name, report in reports.items():
        one = found[f"{name}.eval"]
        assert one["samples"] == one["summaries"] == len(report.episodes), name
        made = [step for episode in report.episodes for step in episode.steps]
        calls = sum(step.action.name != "respond" for step in made)
        assert one["calls"] == calls, name
    assert found["empty.eval"]["status"] == "started"
    assert found["errors.eval"]["errors"] == len(reports["errors"].episodes)
    assert found["strange.eval"]["errors"] == 0


def test_trajectories_fit_the_schema_of_atif() -> None:
    report = full_report(8, 2)
    lines = str(render(report, "atif")).splitlines()
    found = [Trajectory.model_validate_json(line) for line in lines]
    assert len(found) == len(report.episodes)
    for trajectory, episode in zip(found, report.episodes, strict=True):
        calls = [call for step in trajectory.steps for call in step.tool_calls or ()]
        assert [call.function_name for call in calls] == [
            step.action.name for step in episode.steps if step.action.name != "respond"
        ]
        assert trajectory.extra is not None
        assert trajectory.extra["greenroom"]["reward"] == episode.reward


@pytest.mark.parametrize("form", ["inspect", "atif"])
def test_what_was_exported_is_read_as_it_was(form: str, tmp_path: Path) -> None:
    report = full_report(8, 2)
    file = tmp_path / "file"
    file.write_bytes(content(render(report, form)))
    for recorded, episode in zip(load_recordings(file), report.episodes, strict=True):
        assert (recorded.task_index, recorded.trial) == (episode.task_index, episode.trial)
        assert (recorded.reward, recorded.opening) == (episode.reward, episode.opening)
        assert [(step.name, step.kwargs, step.observation) for step in recorded.steps] == [
            (step.action.name, step.action.kwargs, step.observation) for step in episode.steps
        ]


@pytest.mark.parametrize("form", ["inspect", "atif"])
def test_what_users_did_is_kept(form: str, store: Store, tmp_path: Path) -> None:
    played = greenroom.run(str(PATH), agent="oracle", store=store)
    file = tmp_path / "file"
    file.write_bytes(content(render(played.report, form)))
    episodes = list(played.report.episodes)
    assert any(step.user_calls for episode in episodes for step in episode.steps)
    for recorded, episode in zip(load_recordings(file), episodes, strict=True):
        calls = [[call.name for call in step.user_calls] for step in recorded.steps]
        assert calls == [[call.action.name for call in step.user_calls] for step in episode.steps]


def test_logs_of_others_name_tasks_by_their_ids(tmp_path: Path) -> None:
    call = {"id": "1", "function": "look", "arguments": {"at": "lamp"}}
    sample = {
        "id": "lamp-1",
        "epoch": 2,
        "scores": {"correct": {"value": "C"}},
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "hello"}]},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "content": "on", "tool_call_id": "1", "function": "look"},
            {"role": "assistant", "content": "It is on."},
        ],
    }
    file = tmp_path / "log.json"
    file.write_text(json.dumps({"version": 2, "eval": {}, "samples": [sample]}))
    (recorded,) = load_recordings(file, {"lamp-1": 7})
    assert (recorded.task_index, recorded.trial, recorded.reward) == (7, 1, 1.0)
    assert recorded.opening == "hello"
    assert [(step.name, step.observation) for step in recorded.steps] == [
        ("look", "on"),
        ("respond", None),
    ]
    with pytest.raises(DataError, match="of the task 'lamp-1', which is not known here"):
        load_recordings(file)


WRITE = """
import sys
from inspect_ai.log import read_eval_log, write_eval_log
write_eval_log(read_eval_log(sys.argv[1]), sys.argv[2])
"""


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_logs_are_read_as_inspect_itself_packs_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = full_report(4, 2)
    ours, theirs = tmp_path / "ours.eval", tmp_path / "theirs.eval"
    ours.write_bytes(content(render(report, "inspect")))
    subprocess.run([INSPECT, "-c", WRITE, ours, theirs], check=True, capture_output=True)
    with ZipFile(theirs) as log:
        assert {one.compress_type for one in log.infolist()} == {93}  # Zstandard
    both = [
        sorted(load_recordings(file), key=lambda one: (one.task_index, one.trial))
        for file in (theirs, ours)
    ]
    assert both[0] == both[1]
    whole = theirs.read_bytes()
    place = whole.index(b"samples/") + 100
    theirs.write_bytes(whole[:place] + b"\0" * 20 + whole[place + 20 :])
    with pytest.raises(DataError, match="is not a log of Inspect"):
        load_recordings(theirs)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    theirs.write_bytes(whole + b" ")  # another file, which is read again
    with pytest.raises(
        DataError, match=r"packed with Zstandard: pip install 'greenroom\[parquet\]'"
    ):
        load_recordings(theirs)


def test_a_trajectory_without_a_task_or_a_reward(tmp_path: Path) -> None:
    steps = [{"step_id": 1, "source": "agent", "message": "Hi"}]
    file = tmp_path / "trajectory.json"
    file.write_text(json.dumps({"schema_version": "ATIF-v1.4", "steps": steps}))
    with pytest.raises(DataError, match="does not say which task it is of"):
        load_recordings(file)
    extra = {"greenroom": {"task_index": 3}}
    file.write_text(json.dumps({"schema_version": "ATIF-v1.4", "steps": steps, "extra": extra}))
    (recorded,) = load_recordings(file)
    assert (recorded.task_index, recorded.trial, recorded.reward) == (3, 0, None)


@pytest.mark.parametrize(
    "broken", [b"PK\x03\x04 and nothing", b'{"schema_version": "ATIF-v1.7"', b""]
)
def test_broken_files_are_told(broken: bytes, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(broken)
    with pytest.raises(DataError, match="file"):
        load_recordings(file)


def test_a_log_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("greenroom.reports.recorded_files.PACK_LIMIT", 2**20)
    file = tmp_path / "bomb.eval"
    with ZipFile(file, "w", ZIP_DEFLATED) as log:
        log.writestr("samples/1_epoch_1.json", b" " * 2**21)
    with pytest.raises(DataError, match="larger than 1 MB when unpacked"):
        load_trajectories(file)


def test_comparisons_and_evaluations_have_no_trajectories(store: Store) -> None:
    result = greenroom.evaluate(four, [{"question": "2 + 2"}], ["exact_match"], store=store)
    with pytest.raises(InputError, match="Only runs have trajectories"):
        render(result.report, "atif")
