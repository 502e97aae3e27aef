"""The examples of one file each: run by path, as a person does, and short."""

from __future__ import annotations

from pathlib import Path

import pytest

from greenroom.store import open_store
from tests.cli.running import Greenroom

EXAMPLES = Path(__file__).parents[1] / "examples" / "by_path"
LIMITS = {
    "agent.py": 40,
    "desk.py": 30,
    "user.py": 20,
    "user.toml": 50,
    "domain.py": 60,
    "evaluator.py": 10,
    "thermostat.py": 110,
}

APP = """
from greenroom import workflow

@workflow
def answer(question: str) -> str:
    return "Thank you for asking." if question == "kind" else "No."
"""


@pytest.fixture
def greenroom(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Greenroom:
    monkeypatch.setenv("GREENROOM_DATABASE_URL", f"sqlite:///{tmp_path}/store.db")
    return Greenroom(capsys)


@pytest.mark.parametrize(("name", "most"), LIMITS.items())
def test_each_example_is_short(name: str, most: int) -> None:
    assert len((EXAMPLES / name).read_text().splitlines()) <= most


@pytest.mark.parametrize("target", ["agent.py", "agent.py:Canceller"])
def test_an_agent_by_path_has_flags_for_its_settings(greenroom: Greenroom, target: str) -> None:
    result = greenroom(
        *("run", "--agent-strategy", EXAMPLES / target, "--reason", "ordered by mistake"),
        *("--task-ids", 5, "--json"),
    )
    assert result.status == 0, result.err
    (episode,) = result.json["episodes"]
    assert [step["action"]["name"] for step in episode["steps"]] == [
        "cancel_pending_order",
        "respond",
    ]
    assert episode["steps"][0]["action"]["kwargs"]["reason"] == "ordered by mistake"
    run = result.json["run"]
    assert run["agent_strategy"] == "Canceller"
    assert run["config"]["agent_options"] == {"reason": "ordered by mistake"}


def test_a_run_with_files_resumes_from_another_folder(
    greenroom: Greenroom, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(EXAMPLES)
    result = greenroom(
        *("run", "--agent-strategy", "agent.py", "--user-strategy", "user.py"),
        *("--env", "retail", "--task-ids", 5, "--name", "here", "--json"),
    )
    assert result.status == 0, result.err
    config = open_store().runs.find("here").config
    assert config["agent_strategy"] == str(EXAMPLES / "agent.py")
    assert config["user_strategy"] == str(EXAMPLES / "user.py")
    monkeypatch.chdir(tmp_path)
    assert greenroom("resume", "here", "--json").status == 0


def test_a_user_by_path(greenroom: Greenroom) -> None:
    result = greenroom(
        *("run", "--agent-strategy", "oracle", "--user-strategy", EXAMPLES / "user.py"),
        *("--task-ids", 5, "--json"),
    )
    assert result.status == 0, result.err
    assert result.json["metrics"]["outcomes"] == {"success": 1}


def test_a_scripted_user_by_path(greenroom: Greenroom) -> None:
    result = greenroom(
        *("run", "--agent-strategy", EXAMPLES / "desk.py", "--task-ids", 24, 51, 3),
        *("--user-option", f"script={EXAMPLES / 'user.toml'}", "--num-trials", 2, "--json"),
    )
    assert result.status == 0, result.err
    rewards = {(one["task_index"], one["trial"]): one["reward"] for one in result.json["episodes"]}
    assert rewards == {(task, trial): float(task != 3) for task in (24, 51, 3) for trial in (0, 1)}


@pytest.mark.parametrize("target", ["domain.py", "domain.py:plugin"])
def test_a_domain_by_path(greenroom: Greenroom, target: str) -> None:
    assert "1/1 tasks are sound" in greenroom("tasks", "validate", "--env", EXAMPLES / target).out
    result = greenroom("run", "--env", EXAMPLES / target, "--json")
    assert result.status == 0, result.err
    assert result.json["metrics"]["outcomes"] == {"success": 1}
    assert result.json["run"]["env"] == "library"


@pytest.mark.slow
@pytest.mark.parametrize("target", ["evaluator.py", "evaluator.py:polite", "evaluator:polite"])
def test_an_evaluator_by_path(
    greenroom: Greenroom, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    (tmp_path / "app.py").write_text(APP)
    (tmp_path / "rows.csv").write_text("question\nkind\nblunt\n")
    monkeypatch.chdir(EXAMPLES)
    result = greenroom(
        *("eval", tmp_path / "app.py", tmp_path / "rows.csv", "-e", target),
        *("--name", "manners", "--json"),
    )
    assert result.status == 0, result.err
    (spec,) = open_store().evaluations.find("manners").evaluators
    assert spec["alias"] in ("polite", "evaluator")
    monkeypatch.chdir(tmp_path)
    assert greenroom("evals", "resume", "manners", "--json").status == 0
    shown = greenroom("evals", "show", "manners", "--row", 1, "--json").json
    (score,) = shown["results"][0]["scores"].values()
    assert score["score"] == 1.0


@pytest.mark.parametrize("name", LIMITS)
def test_each_example_is_in_the_documentation(name: str) -> None:
    others = {"thermostat.py": "domains", "desk.py": "users", "user.toml": "users"}
    about = others.get(name, f"{name.removesuffix('.py')}s")
    page = EXAMPLES.parents[1] / "docs" / f"{about}.md"
    assert (EXAMPLES / name).read_text() in page.read_text()
