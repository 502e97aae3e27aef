"""Two versions of a task set at the command line: marked, refused, compared and explained."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from greenroom.errors import InputError
from greenroom.reports.task_sets import check_same_tasks
from greenroom.store import TaskSetRecord, open_store
from tests.cli.running import Greenroom
from tests.store.samples import sample_run


def changed(pack: Path, split: str, change: Any) -> None:
    """Change the tasks of a pack in place."""
    path = pack / "retail" / "tasks" / f"{split}.json"
    tasks = json.loads(path.read_text())
    change(tasks)
    path.write_text(json.dumps(tasks))


@pytest.fixture
def versions(greenroom: Greenroom, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Greenroom:
    """Two versions of a pack, `old` and `new`, with a run on each."""
    monkeypatch.chdir(tmp_path)
    assert greenroom("generate", "--seed", 3, "--tasks", 6, "-o", "old").status == 0
    shutil.copytree("old", "new")

    def change(tasks: list[dict[str, Any]]) -> None:
        tasks[1]["instruction"] += " Be quick."
        tasks[4]["actions"] = tasks[4]["actions"][:-1]
        tasks.insert(0, tasks.pop(5))

    changed(Path("new"), "test", change)
    for name in ("old", "new"):
        played = greenroom("run", "--data", name, "--name", name, "--num-trials", 2)
        assert played.status == 0, played.err
    return greenroom


def test_a_run_keeps_which_tasks_it_played(versions: Greenroom) -> None:
    store = open_store()
    old, new = (store.runs.find(name).task_set for name in ("old", "new"))
    store.close()
    assert old is not None
    assert new is not None
    assert (old.hash == new.hash, old.tasks == new.tasks) == (False, False)
    assert (old.database, old.policy, old.tools) == (new.database, new.policy, new.tools)
    assert set(old.task_hashes) & set(new.task_hashes) == set(new.task_hashes[:1]) | {
        old.task_hashes[index] for index in (0, 2, 3)
    }


def test_runs_of_different_sets_are_refused_with_what_can_be_compared(
    versions: Greenroom,
) -> None:
    refused = versions("compare", "old", "new")
    assert refused.status == 2
    assert "Different: 2 of 6 tasks." in refused.err
    assert "4 tasks are equal in both: compare those with --equal-tasks." in refused.err


@pytest.mark.slow
def test_equal_tasks_are_compared_wherever_they_stand(versions: Greenroom) -> None:
    found = versions("compare", "old", "new", "--equal-tasks", "--json").json
    assert [side["planned"] for side in found["runs"]] == [8, 8]
    assert found["headline"].startswith("On the 4 equal tasks of different sets: ")
    assert "Task sets differ: old was played on retail test of" in found["notes"][0]
    shown = versions("compare", "old", "new", "--equal-tasks").out
    assert "4 equal tasks" in " ".join(shown.split())


@pytest.mark.slow
def test_one_set_under_another_name_is_the_same_set(versions: Greenroom) -> None:
    shutil.copytree("old", "copied")
    info = json.loads(Path("copied/pack.json").read_text())
    Path("copied/pack.json").write_text(json.dumps(info | {"name": "copied", "version": "9"}))
    versions("run", "--data", "copied", "--name", "copied", "--num-trials", 2)
    assert versions("compare", "old", "copied").status == 0


@pytest.mark.slow
def test_nothing_in_common_is_said(versions: Greenroom) -> None:
    versions("generate", "--seed", 9, "--tasks", 3, "-o", "other")
    versions("run", "--data", "other", "--name", "other")
    assert "No task is equal in both." in versions("compare", "old", "other").err
    refused = versions("compare", "old", "other", "--equal-tasks")
    assert (refused.status, "there is nothing to compare" in refused.err) == (2, True)


@pytest.mark.parametrize("marked", [True, False])
def test_runs_with_different_searches_are_refused(*, marked: bool) -> None:
    hashes = dict.fromkeys(("hash", "tasks", "database", "policy", "tools", "documents"), "0")
    same = TaskSetRecord(**hashes, task_hashes=["a"]) if marked else None
    one, other = (
        sample_run(name=name, task_set=same, task_indices=[0], config={"env_options": options})
        for name, options in (("one", {}), ("other", {"retrieval": "mine.py:search"}))
    )
    check_same_tasks([one, one])
    with pytest.raises(
        InputError, match=r"its default and mine\.py:search" if marked else "cannot"
    ):
        check_same_tasks([one, other])


@pytest.mark.slow
def test_a_run_does_not_go_on_with_changed_data(versions: Greenroom) -> None:
    def worse(tasks: list[dict[str, Any]]) -> None:
        tasks[0]["outputs"] = ["42"]

    changed(Path("old"), "test", worse)
    Path("old/retail/policy.md").write_text("Give everything away.")
    refused = versions("resume", "old")
    assert refused.status == 2
    assert "has changed (1 of its 6 tasks (" in refused.err
    assert "), policy)" in refused.err

    def shorter(tasks: list[dict[str, Any]]) -> None:
        tasks.pop()

    changed(Path("old"), "test", shorter)
    assert "1 task is gone" in versions("resume", "old").err


@pytest.mark.slow
def test_diff_names_tasks_and_fields(versions: Greenroom) -> None:
    (found,) = versions("tasks", "diff", "old", "new", "--json").json
    assert (found["env"], found["equal"]) == ("retail", 4)
    assert [sorted(one["fields"]) for one in found["changed"]] == [["instruction"], ["actions"]]
    assert found["parts"] == []
    shown = versions("tasks", "diff", "old", "new", "--lines").out
    assert "retail: 4 equal, 2 changed" in shown
    assert "+ " in shown
    assert shown.count("  task ") == 2


@pytest.mark.slow
def test_diff_of_runs_reads_their_data_or_what_episodes_keep(versions: Greenroom) -> None:
    (found,) = versions("tasks", "diff", "old", "new", "--json").json
    shutil.move("old", "moved")
    (of_runs,) = versions("tasks", "diff", "old", "new", "--json").json
    assert of_runs["compared"] == ["instruction", "user_id", "actions", "outputs"]
    assert of_runs["changed"] == found["changed"]
    assert "no longer there" in versions("tasks", "diff", "old", "moved").out
    shutil.move("new", "gone")
    (both,) = versions("tasks", "diff", "moved", "new", "--json").json
    assert both["changed"] == found["changed"]


@pytest.mark.slow
def test_diff_of_a_run_without_its_data_knows_equal_tasks_by_their_hashes(
    versions: Greenroom,
) -> None:
    def compared(tasks: list[dict[str, Any]]) -> None:
        for task in tasks[:2]:
            task["actions"] = [action | {"compared": []} for action in task["actions"]]

    changed(Path("old"), "test", compared)
    versions("run", "--data", "old", "--name", "loose")

    def other(tasks: list[dict[str, Any]]) -> None:
        tasks[1]["judged"] = ["The agent is polite."]

    changed(Path("old"), "test", other)
    (found,) = versions("tasks", "diff", "loose", "old", "--json").json
    assert (found["equal"], [one["fields"] for one in found["changed"]]) == (5, [{}])
    shown = versions("tasks", "diff", "loose", "old").out
    assert f"task {found['changed'][0]['task']}: something else" in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["old", "nowhere"], "'nowhere' is no directory, no pulled pack"),
        (["old", "new", "--env", "airline"], "no 'airline' data"),
        (["old", "empty"], "no domain in common"),
        (["old", "new", "--task-split", "dev"], "dev"),
    ],
)
def test_what_cannot_be_compared_is_said(
    versions: Greenroom, arguments: list[str], words: str
) -> None:
    Path("empty").mkdir()
    refused = versions("tasks", "diff", *arguments)
    assert (refused.status, words in refused.err) == (2, True), refused.err


@pytest.mark.slow
def test_a_task_is_played_by_its_own_id(versions: Greenroom) -> None:
    listed = versions("tasks", "list", "--data", "old", "--json").json
    first, third = listed[0]["id"], listed[2]["id"]
    assert first in versions("tasks", "list", "--data", "old").out
    versions("run", "--data", "old", "--name", "some", "--task-ids", third, first)
    store = open_store()
    run = store.runs.find("some")
    store.close()
    assert (run.task_indices, run.config["task_ids"]) == ([2, 0], [2, 0])
    assert versions("tasks", "show", third, "--data", "old", "--json").json["task_id"] == 2
    assert versions("tasks", "show", "2", "--data", "old").out.startswith(f"Task 2 ({third}) of")
    refused = versions("run", "--data", "old", "--task-ids", "nothing")
    assert (refused.status, "no task with the id 'nothing'" in refused.err) == (2, True)
