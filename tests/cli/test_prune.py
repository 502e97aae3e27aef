"""`greenroom runs prune`: what it says, what it drops, and what everybody says of it later."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from greenroom.errors import InputError
from greenroom.store import EpisodeRecord, Store, StoreError, open_store, this_process
from greenroom.store.pruning import compact, prune_run
from tests.cli.running import Greenroom
from tests.store.samples import hold, sample_episode, sample_run


@pytest.fixture
def played(greenroom: Greenroom, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Greenroom:
    """A run of three tasks with two trials each, some of them failures."""
    monkeypatch.chdir(tmp_path)
    arguments = ["--agent-strategy", "synthetic", "--success", "0.6", "--task-ids", "1,2,5"]
    result = greenroom("run", *arguments, "--num-trials", 2, "--name", "first", "--seed", 3)
    assert result.status == 0, result.err
    return greenroom


def episodes(name: str = "first") -> list[EpisodeRecord]:
    store = open_store()
    found = list(store.runs.results(store.runs.find(name).id))
    store.close()
    return found


def test_it_says_first_what_it_would_do_and_does_nothing(played: Greenroom) -> None:
    result = played("runs", "prune", "--run", "first")
    assert result.status == 2
    assert "To be pruned" in result.out
    assert "6 conversations" in result.err
    assert "pass --yes" in result.err
    found = played("runs", "prune", "--run", "first", "--json").json
    assert (found["episodes"], found["pruned"], found["under_way"]) == (6, 0, [])
    assert found["runs"] == [{"name": "first", "episodes": 6, "bytes": found["bytes"]}]
    assert found["bytes"] > 6_000
    assert all(one.steps for one in episodes())


def test_figures_stay_and_conversations_go(played: Greenroom) -> None:
    before = played("runs", "show", "first", "--json").json
    result = played("runs", "prune", "--run", "first", "--yes")
    assert result.status == 0
    assert "Pruned 6 conversations of 1 runs" in result.out
    assert "--compact" in result.out
    after = played("runs", "show", "first", "--json").json
    assert after["metrics"] == before["metrics"]
    assert after["errors"] == before["errors"]
    assert (before["pruned"], after["pruned"]) == (0, 6)
    assert any("6 conversations were pruned" in note for note in after["notes"])
    assert not any(one.steps or one.messages or one.opening for one in episodes())
    assert played("errors", "first", "--json").json["failures"] == before["errors"]["failures"]
    again = played("runs", "prune", "--run", "first", "--yes")
    assert "nothing to prune" in again.out


def test_failures_may_keep_their_conversations(played: Greenroom) -> None:
    failed = {one.key for one in episodes() if one.outcome != "success"}
    assert 0 < len(failed) < 6
    found = played("runs", "prune", "--run", "first", "--keep-failures", "--yes", "--json").json
    assert found["pruned"] == 6 - len(failed)
    assert {one.key for one in episodes() if one.steps} == failed


def test_the_file_gives_its_room_back(played: Greenroom) -> None:
    store = open_store()
    run = store.runs.create(sample_run("big", num_trials=50))
    many = [sample_episode(0, trial, printed="x" * 40_000) for trial in range(50)]
    assert all(store.runs.add(run.id, many))
    store.close()
    before = sum(file.stat().st_size for file in Path().glob("runs.db*"))
    assert played("runs", "prune", "--run", "big", "--yes", "--compact").status == 0
    assert sum(file.stat().st_size for file in Path().glob("runs.db*")) < before - 1_500_000


def test_a_file_in_use_stays_as_large_as_it_is(
    played: Greenroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GREENROOM_DATABASE_WAIT", "0.2")
    store = open_store()
    with sqlite3.connect("runs.db", isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="could not be made smaller"):
            compact(store)
        other.execute("ROLLBACK")
    other.close()
    store.close()


def test_a_rule_by_age_and_runs_under_way(played: Greenroom) -> None:
    assert "nothing to prune" in played("runs", "prune", "--older-than", "30d", "--yes").out
    store = open_store()
    for name in ("old", "live"):  # begun in January 2026
        run = store.runs.create(sample_run(name))
        assert store.runs.add(run.id, [sample_episode()]) == [True]
    live, owner = store.runs.find("live"), this_process()
    hold(store.runs, live, owner)
    found = played("runs", "prune", "--older-than", "4w", "--yes", "--json").json
    assert [one["name"] for one in found["runs"]] == ["old"]
    assert found["under_way"] == ["live"]
    assert [one.pruned is None for name in ("old", "live") for one in episodes(name)] == [
        False,
        True,
    ]
    store.runs.workers.leave(live.id, owner)
    store.close()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "Say which runs"),
        (("--older-than", "soon"), "'soon' is no age"),
        (("--run", "none"), "Unknown run 'none'"),
    ],
)
def test_what_it_cannot_do_is_said(
    played: Greenroom, arguments: tuple[str, ...], said: str
) -> None:
    result = played("runs", "prune", *arguments)
    assert (result.status, said in result.err) == (2, True)


def test_a_card_still_holds_and_says_so(played: Greenroom) -> None:
    assert played("runs", "card", "first", "-o", "card.json").status == 0
    assert played("runs", "prune", "--run", "first", "--yes").status == 0
    result = played("runs", "card", "--verify", "card.json")
    assert result.status == 0
    assert "6 conversations of the run were pruned" in result.out
    card = json.loads(Path("card.json").read_text())
    card["episodes"]["1"]["0"] = "0" * len(card["episodes"]["1"]["0"])
    Path("card.json").write_text(json.dumps(card))
    changed = played("runs", "card", "--verify", "card.json")
    assert (changed.status, "is not what it was" in changed.out) == (1, True)


@pytest.mark.slow
def test_other_commands_say_that_it_was_pruned(played: Greenroom) -> None:
    assert played("replay", "first").status == 0
    assert played("runs", "prune", "--run", "first", "--keep-failures", "--yes").status == 0
    replayed = played("replay", "first")
    assert (replayed.status, "with a pruned conversation" in replayed.err) == (0, True)
    solved = next(one for one in episodes() if one.pruned is not None)
    for more in ((), ("--from-turn", 1, "--trial", solved.trial)):
        found = played("replay", "first", solved.task_index, *(more or ("--trial", solved.trial)))
        assert (found.status, "its conversation was pruned on" in found.err) == (2, True)
    graded = played("regrade", "first", "--json")
    assert "its conversation was pruned" in graded.out
    exported = played("runs", "export", "first", "--format", "tau-bench", "-o", "tau.json")
    assert (exported.status, "pruned, and empty here" in exported.err) == (0, True)
    page = played("runs", "report", "first", "-o", "page.html")
    assert page.status == 0
    assert "its conversation was pruned on" in Path("page.html").read_text()


def test_a_run_that_goes_on_is_not_pruned_any_further(played: Greenroom) -> None:
    store: Store = open_store()
    run = store.runs.find("first")
    store.runs.update(run.model_copy(update={"num_trials": 3}))
    me = this_process()
    hold(store.runs, run, me)
    with pytest.raises(InputError, match="under way"):
        list(prune_run(store, run.id))
    store.runs.workers.leave(run.id, me)
    assert sum(prune_run(store, run.id)) == 6
    store.close()
