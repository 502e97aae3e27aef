"""Audits at the command line, and the tasks that they exclude from runs and from looks at them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from greenroom.benchmark.regradings import reopen_regrading
from greenroom.store import open_store
from tests.cli.running import Greenroom

FAULTY = [1, 4]


@pytest.fixture
def pack(greenroom: Greenroom, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Greenroom:
    """A pack of six tasks: of task 1 nothing comes, and task 4 repeats task 3."""
    monkeypatch.chdir(tmp_path)
    assert greenroom("generate", "--seed", 3, "--tasks", 6, "-o", "pack").status == 0
    path = Path("pack/retail/tasks/test.json")
    tasks = json.loads(path.read_text())
    tasks[1] |= {"actions": [], "outputs": [], "tags": []}
    tasks[4] = {**tasks[3], "id": tasks[4]["id"]}
    path.write_text(json.dumps(tasks))
    return greenroom


@pytest.fixture
def audited(pack: Greenroom) -> Greenroom:
    """The same with its audit in a file, and a run of all six tasks."""
    assert pack("tasks", "audit", "--data", "pack", "-o", "audit.json").status == 0
    assert play(pack, "full").status == 0
    return pack


def play(greenroom: Greenroom, name: str, *more: object) -> Any:
    return greenroom("run", "--data", "pack", "--name", name, "--num-trials", 2, *more)


def test_an_audit_lists_findings_with_tasks_kinds_and_evidence(pack: Greenroom) -> None:
    shown = pack("tasks", "audit", "--data", "pack")
    assert shown.status == 0
    assert "solved-by-nothing: an agent that does nothing would solve it" in shown.out
    assert shown.out.strip().endswith("2/6 tasks have findings")
    found = pack("tasks", "audit", "--data", "pack", "--json").json
    assert [(one["task_id"], one["kind"]) for one in found["findings"]] == [
        (1, "solved-by-nothing"),
        (4, "duplicate"),
    ]
    assert found["findings"][1]["evidence"] == {"same_as": 3}
    assert found["faulty_tasks"] == 2
    assert "never-solved" not in found["checked"]
    only = pack("tasks", "audit", "--data", "pack", "--kind", "duplicate", "--json").json
    assert [one["task_id"] for one in only["findings"]] == [4]
    assert only["checked"] == ["duplicate"]
    unknown = pack("tasks", "audit", "--data", "pack", "--kind", "duplicates")
    assert unknown.status == 2
    assert "Did you mean 'duplicate'?" in unknown.err


def test_an_audit_leaves_tasks_out_that_are_excluded(pack: Greenroom) -> None:
    assert pack("tasks", "audit", "--data", "pack", "-o", "audit.json").status == 0
    rest = pack("tasks", "audit", "--data", "pack", "--exclude-tasks", "1", "--json").json
    assert [one["task_id"] for one in rest["findings"]] == [4]
    assert rest["tasks"] == 5
    assert rest["notes"][0].startswith("1 task is excluded by hand: 1")
    both = ("--exclude-tasks", "audit.json", "--exclude-tasks", "0")
    shown = pack("tasks", "audit", "--data", "pack", *both)
    assert shown.out.strip().endswith("0/3 tasks have findings")
    refused = pack("tasks", "audit", "--data", "pack", "--task-ids", "1", "--exclude-tasks", "1")
    assert refused.status == 2
    assert "leaves nothing to audit" in refused.err


def test_files_of_other_tasks_are_told_and_the_rest_counts(audited: Greenroom) -> None:
    failed = ("--agent-strategy", "synthetic", "--success", "0")
    assert play(audited, "other", *failed).status == 0
    rows = json.loads(audited("runs", "export", "other", "--format", "tau-bench").out)
    Path("same.json").write_text(json.dumps(rows))
    for row in rows:
        if row["task_id"] == 0:
            row["info"]["task"]["instruction"] = "You want something else."
    Path("changed.json").write_text(json.dumps(rows))
    names = ("--run", "same.json", "--run", "changed.json", "--run", "full")
    found = audited("tasks", "audit", "--data", "pack", *names, "--json").json
    never = [one["task_id"] for one in found["findings"] if one["kind"] == "never-solved"]
    assert 2 in never
    assert 0 not in never
    told = " ".join(found["notes"])
    assert "1 task of changed.json is another task" in told
    assert "full is not counted" in told
    assert "raises their figures" in told


def test_a_bad_task_file_tells_where(pack: Greenroom) -> None:
    path = Path("pack/retail/tasks/test.json")
    tasks = json.loads(path.read_text())
    path.write_text(json.dumps([*tasks[:2], {"instruction": 5, "actions": {}}]))
    refused = pack("tasks", "audit", "--data", "pack")
    assert refused.status == 2
    assert "test.json: 2." in refused.err


def test_a_run_leaves_an_audits_tasks_out_and_says_so(audited: Greenroom) -> None:
    played = play(audited, "less", "--exclude-tasks", "audit.json")
    assert played.status == 0, played.err
    text = " ".join(played.out.split())
    assert "2 tasks are excluded by audit.json: 1" in text
    assert "(solved-by-nothing)" in text
    assert "without 2 tasks" in text
    report = audited("runs", "export", "less").json
    assert report["run"]["task_indices"] == [0, 2, 3, 5]
    assert [one["task_index"] for one in report["run"]["excluded"]] == FAULTY
    assert {section["id"] for section in report["sections"]} >= {"excluded"}
    # It goes on without the file.
    Path("audit.json").unlink()
    assert audited("resume", "less").status == 0


def test_task_sets_with_and_without_are_not_compared_in_silence(audited: Greenroom) -> None:
    assert play(audited, "less", "--exclude-tasks", "audit.json").status == 0
    refused = audited("compare", "full", "less")
    assert refused.status == 2
    assert "Different: 2 of 6 tasks. 4 tasks are equal in both" in refused.err
    assert "Different: 2 of 6 tasks" in audited("compare", "less", "full").err
    store = open_store()
    full, less = (store.runs.find(name).task_set for name in ("full", "less"))
    store.close()
    assert full is not None
    assert less is not None
    assert (less.hash != full.hash, less.tasks != full.tasks) == (True, True)
    assert less.whole.hash == full.hash
    both = audited("compare", "full", "less", "--exclude-tasks", "audit.json", "--json").json
    assert [side["planned"] for side in both["runs"]] == [8, 8]
    assert any("2 tasks are excluded by audit.json" in note for note in both["notes"])
    equal = audited("compare", "full", "less", "--equal-tasks", "--json").json
    assert "full: no task is excluded." in equal["notes"]


def test_a_look_at_a_stored_run_is_the_same_as_a_run_without_the_tasks(
    audited: Greenroom,
) -> None:
    assert play(audited, "less", "--exclude-tasks", "audit.json").status == 0
    looked = audited("runs", "show", "full", "--exclude-tasks", "audit.json", "--json").json
    less = audited("runs", "show", "less", "--json").json
    assert looked["run"]["task_set"] == less["run"]["task_set"]
    assert looked["metrics"]["planned"] == less["metrics"]["planned"] == 8
    assert [one["task_index"] for one in looked["run"]["excluded"]] == FAULTY
    assert len(looked["episodes"]) == 8
    twice = ("--exclude-tasks", "audit.json", "--exclude-tasks", "0", "full")
    assert audited("runs", "show", *twice, "--json").json["metrics"]["planned"] == 6
    rows = audited("runs", "export", "full", "--exclude-tasks", "1,4", "--format", "jsonl").out
    assert {json.loads(line)["task_index"] for line in rows.splitlines()} == {0, 2, 3, 5}
    # The store keeps all.
    assert len(audited("runs", "export", "full").json["episodes"]) == 12


def test_a_claim_card_states_what_is_excluded_and_is_verified_with_it(audited: Greenroom) -> None:
    made = audited("runs", "card", "full", "--exclude-tasks", "audit.json", "-o", "card.json")
    assert made.status == 0
    card = json.loads(Path("card.json").read_text())
    assert card["tasks"] == 4
    assert [one["why"] for one in card["task_set"]["excluded"]] == [
        ["solved-by-nothing"],
        ["duplicate"],
    ]
    assert set(card["episodes"]) == {"0", "2", "3", "5"}
    assert "--exclude-tasks 1,4" in card["commands"][-1]
    assert audited("runs", "card", "--verify", "card.json").out.strip().endswith("no differences.")
    card["task_set"]["excluded"].pop()
    Path("changed.json").write_text(json.dumps(card))
    refused = audited("runs", "card", "--verify", "changed.json")
    assert refused.status == 1
    assert "The episode of task 4, trial 0, of 'full' is in the store" in refused.out
    shown = audited("runs", "card", "full", "--exclude-tasks", "audit.json").out
    assert "| Tasks and trials | 4 tasks (2 excluded), 2 trials each |" in shown
    assert "2 tasks are excluded by audit.json" in shown
    plain = audited("runs", "card", "full", "--json").json
    assert "excluded" not in plain["task_set"]


def test_a_regrading_leaves_their_episodes_out(audited: Greenroom) -> None:
    graded = audited("regrade", "full", "--exclude-tasks", "audit.json", "--json").json
    assert graded["summary"]["episodes"] == 8
    assert [one["task_index"] for one in graded["excluded"]] == FAULTY
    assert graded["task_set"]["hash"] == graded["run_task_set"]["hash"]
    assert "2 tasks are excluded" in audited("regrade", "full", "--exclude-tasks", "1,4").out


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("nowhere.json", "there is no file nowhere.json"),
        ("[1", "no task with the id"),
        ("9", "names task 9, and this split has the tasks 0 to 5"),
        ("0,1,2,3,4,5", "leaves nothing to play"),
        (",", "takes a file, places or ids"),
    ],
)
def test_what_cannot_be_excluded_is_refused(pack: Greenroom, given: str, problem: str) -> None:
    refused = play(pack, "x", "--exclude-tasks", given)
    assert refused.status == 2
    assert problem in " ".join(refused.err.split())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "is no JSON"),
        ("{}", "is neither an audit"),
        ("[1, null]", "entry 1 should be a task's place or id, not None"),
        ('{"kind": "greenroom.task_audit", "findings": [{}]}', "finding 0 needs task_id"),
    ],
)
def test_a_file_that_lists_no_tasks_is_refused(pack: Greenroom, text: str, problem: str) -> None:
    Path("list.json").write_text(text)
    refused = play(pack, "x", "--exclude-tasks", "list.json")
    assert refused.status == 2
    assert problem in " ".join(refused.err.split())


def test_a_plain_list_will_do(pack: Greenroom) -> None:
    Path("list.json").write_text("[1, 4]")
    Path("list.txt").write_text("1  # nothing happens\n4\n")
    for name in ("list.json", "list.txt"):
        assert play(pack, name.partition(".")[2], "--exclude-tasks", name).status == 0
    store = open_store()
    runs = [store.runs.find(name) for name in ("json", "txt")]
    store.close()
    assert [run.task_indices for run in runs] == [[0, 2, 3, 5]] * 2
    assert {one.source for run in runs for one in run.excluded} == {"list.json", "list.txt"}


def test_an_audit_of_other_tasks_is_refused(audited: Greenroom) -> None:
    path = Path("pack/retail/tasks/test.json")
    tasks = json.loads(path.read_text())
    tasks[1]["instruction"] += " Be quick."
    path.write_text(json.dumps(tasks))
    refused = play(audited, "x", "--exclude-tasks", "audit.json")
    assert refused.status == 2
    assert "audit.json was made of other tasks: task 1 had the hash" in refused.err


def test_an_evaluation_has_no_tasks_to_exclude(audited: Greenroom) -> None:
    Path("flow.py").write_text(
        "from greenroom import workflow\n\n\n@workflow\nasync def same(text):\n    return text\n"
    )
    Path("rows.csv").write_text("text,expected\na,a\n")
    for name in ("rows", "again"):
        done = audited("eval", "flow.py:same", "rows.csv", "-e", "exact_match", "--name", name)
        assert done.status == 0, done.err
    assert audited("evals", "show", "rows", "--exclude-tasks", "1").status == 2
    refused = audited("compare", "rows", "again", "--exclude-tasks", "1")
    assert refused.status == 2
    assert "Evaluations have rows, not tasks" in refused.err


def test_a_regrading_without_some_tasks_is_taken_up_again(audited: Greenroom) -> None:
    assert audited("regrade", "full", "--exclude-tasks", "audit.json").status == 0
    store = open_store()
    (regrading,) = store.regradings.all(parent=store.runs.find("full").id)
    again, config, _ = reopen_regrading(store, regrading.name)
    store.close()
    assert [one.task_index for one in again.excluded] == FAULTY
    assert config.exclude_tasks == FAULTY
