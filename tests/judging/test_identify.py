"""The command `greenroom identify`, with a judge that is made up."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from greenroom.cli import identify
from greenroom.errors import UnknownName
from greenroom.judging import JudgingConfig
from greenroom.models import FakeModel, ModelUnavailable
from greenroom.reports.tau_bench import tau_bench_rows, write_tau_bench
from greenroom.store import EpisodeRecord, open_store
from greenroom.store.pruning import prune_run
from tests.analysis.episodes import cancel, episode
from tests.judging.pools import use_models
from tests.store.samples import sample_episode, sample_run

VERDICT = json.dumps({"description": "It took #W2.", "author": "agent", "kind": "other"})
Command = Callable[..., Any]


def episodes() -> list[EpisodeRecord]:
    failed = [
        episode([cancel("#W1")], [cancel("#W2")], task_index=0, trial=trial) for trial in (0, 1)
    ]
    return [*failed, sample_episode(1, 0)]


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> FakeModel:
    model = FakeModel([VERDICT])
    use_models(monkeypatch, lambda _: model)
    return model


@pytest.fixture
def command(judge: FakeModel) -> Command:
    runner = CliRunner()

    def run(*arguments: str) -> Any:
        return runner.invoke(identify.app, [*arguments, "--judge-model", "wise"])

    return run


@pytest.fixture
def stored() -> None:
    store = open_store()
    store.runs.create(sample_run())
    store.runs.add("id-sample", episodes())
    store.close()


@pytest.mark.usefixtures("stored")
def test_a_run_is_judged_once_and_the_judgements_are_kept(
    command: Command, judge: FakeModel
) -> None:
    first = command("sample")
    assert first.exit_code == 0, first.output
    assert "2 of 2 failures judged by wise" in first.output
    assert "task 0, trial 0: agent, other" in first.output
    assert "It took #W2." in first.output
    store = open_store()
    (judging,) = store.judgings.all(parent="id-sample")
    assert (judging.judge, len(list(store.judgings.results(judging.id)))) == ("wise", 2)
    store.close()
    asked = len(judge.requests)
    assert command("sample").output.count("agent, other") == 2
    assert len(judge.requests) == asked
    command("sample", "--again", "--max-failures", "1")
    assert len(judge.requests) == asked + 2


@pytest.mark.usefixtures("stored")
def test_what_has_no_verdict_is_asked_again(command: Command, judge: FakeModel) -> None:
    judge.answers = [ModelUnavailable("gone")]
    broken = command("sample")
    assert "Without a verdict: 2" in broken.output
    assert "ModelUnavailable: gone" in broken.output
    judge.answers = [VERDICT]
    assert "2 of 2 failures judged" in command("sample").output


@pytest.mark.usefixtures("judge")
def test_a_result_file_is_judged_and_nothing_is_kept(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    write_tau_bench(path, tau_bench_rows(sample_run(), episodes()))
    result = command(str(path), "--env", "retail", "--json", "--max-failures", "1")
    shown = json.loads(result.stdout)
    assert (shown["source"], shown["episodes"], shown["failures"]) == ("results.json", 3, 2)
    assert shown["summary"]["by_author"] == {"agent": 1}
    assert [one["kind"] for one in shown["judgements"]] == ["other"]


@pytest.mark.usefixtures("stored")
def test_the_policy_of_the_run_is_shown(command: Command, judge: FakeModel) -> None:
    command("sample")
    assert "Be kind." in judge.requests[0].messages[1]["content"]


@pytest.mark.usefixtures("stored")
def test_failures_that_were_pruned_are_counted(command: Command, judge: FakeModel) -> None:
    store = open_store()
    assert sum(prune_run(store, "id-sample")) == 3
    store.runs.add("id-sample", [episode([cancel("#W1")], [cancel("#W2")], task_index=5, trial=0)])
    store.close()
    said = command("sample")
    assert "1 of 1 failures judged by wise" in said.output
    assert "2 more failures left out: the conversations were pruned." in said.output
    assert json.loads(command("sample", "--json").stdout)["pruned"] == 2


def test_no_failures(command: Command) -> None:
    store = open_store()
    store.runs.create(sample_run())
    store.close()
    assert "No failures to judge" in command("sample").output


def test_an_unknown_run(command: Command) -> None:
    assert isinstance(command("nothing").exception, UnknownName)


def test_the_name_of_a_judge() -> None:
    assert JudgingConfig(judge_model="m", judge_model_provider="local").judge == "local/m"
    assert JudgingConfig(judge_model="m").judge == "m"
