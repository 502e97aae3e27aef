"""Trials from a place in a stored episode: who goes on, with what seeds, and what is kept."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from greenroom.analysis.intervals import binomial_bounds
from greenroom.benchmark import check_config, play_run, reopen_run, start_run
from greenroom.benchmark.rewind_runs import StartedRewind, rewind_outcome, start_rewind
from greenroom.domains.domain import Domain
from greenroom.errors import InputError
from greenroom.model_server import running_server
from greenroom.store import EpisodeRecord, RunRecord, Store, open_store
from tests.models.stub_server import answers, running_stub

COMMAND = "from greenroom.cli.app import main; main()"


def stored(store: Store, **config: Any) -> RunRecord:
    """A run that was played to its end."""
    fields = {"agent_strategy": "synthetic", "agent_options": {"success": 0.5}, "end_index": 6}
    run, context = start_run(store, check_config(fields | config), name="stored")
    anyio.run(play_run, store, run, context)
    return store.runs.find(run.id)


def go_on(store: Store, name: str, task: int, **options: Any) -> StartedRewind:
    """Trials from a place, played."""
    started = start_rewind(store, name, task, **options)
    anyio.run(play_run, store, started.run, started.context)
    return started


def kept(store: Store, run: RunRecord) -> list[EpisodeRecord]:
    return list(store.runs.results(run.id))


def comparable(episodes: list[EpisodeRecord]) -> list[Any]:
    timed = {"started_at", "seconds", "model_seconds", "turn_seconds"}
    return [episode.model_dump(exclude=timed) for episode in episodes]


def test_trials_from_here_are_counted_with_an_interval(store: Store) -> None:
    run = stored(store)
    started = go_on(store, run.name, 3, step=3, trials=10)
    outcome = rewind_outcome(store, store.runs.find(started.run.id))
    episodes = kept(store, started.run)
    solved = sum(episode.solved for episode in episodes)
    assert 0 < solved < 10
    assert (outcome.trials, outcome.solved) == (10, solved)
    assert (outcome.low, outcome.high) == binomial_bounds(10, solved, 0.95)
    assert outcome.sentence.startswith(
        f"From here it is solved {solved} of 10 times (95 % interval"
    )
    assert outcome.outcomes == {"success": solved, "failure": 10 - solved}
    assert sum(outcome.kinds.values()) == 10 - solved
    before = store.runs.result(run.id, (3, 0))
    assert before is not None
    assert outcome.stored.outcome == before.outcome
    # The past is the stored one; each trial has a seed of its own.
    assert all(episode.steps[:2] == before.steps[:2] for episode in episodes)
    assert len({episode.seed for episode in episodes}) == 10


def test_trials_are_the_same_each_time_and_other_places_have_others(store: Store) -> None:
    run = stored(store)
    first = go_on(store, run.name, 3, step=3, trials=8)
    second = go_on(store, run.name, 3, step=3, trials=8, again=True)
    assert first.run.id != second.run.id
    assert comparable(kept(store, first.run)) == comparable(kept(store, second.run))
    seeds = {
        episode.seed
        for step in (1, 2, 3)
        for episode in kept(store, go_on(store, run.name, 3, step=step, trials=4).run)
    }
    assert len(seeds) >= 12


def test_more_trials_are_added_to_those_that_are_there(store: Store) -> None:
    run = stored(store)
    first = go_on(store, run.name, 3, step=2, trials=3)
    before = kept(store, first.run)
    more = go_on(store, run.name, 3, step=2, trials=7)
    assert more.run.id == first.run.id
    assert kept(store, more.run)[:3] == before
    assert len(kept(store, more.run)) == 7
    fewer = go_on(store, run.name, 3, step=2, trials=2)
    assert fewer.run.planned == 7
    other = go_on(store, run.name, 3, step=2, trials=2, changes={"agent_options": {"success": 1.0}})
    assert other.run.id != first.run.id
    assert {episode.outcome for episode in kept(store, other.run)} == {"success"}


def test_they_are_listed_with_their_run_and_deleted_with_it(store: Store) -> None:
    run = stored(store)
    started = go_on(store, run.name, 3, turn=1, trials=2)
    assert [one.id for one in store.runs.all()] == [run.id]
    assert [one.job.id for one in store.runs.standings()] == [run.id]
    assert [one.id for one in store.runs.all(parent=run.id)] == [started.run.id]
    assert [one.finished for one in store.runs.standings(parent=run.id)] == [2]
    assert store.runs.find(started.run.name).rewound_to == started.run.rewound_to
    store.runs.delete(run)
    with pytest.raises(InputError, match="Unknown run"):
        store.runs.find(started.run.name)


def test_a_rewound_episode_can_be_rewound(store: Store) -> None:
    run = stored(store)
    first = go_on(store, run.name, 3, step=2, trials=1)
    second = go_on(store, first.run.name, 3, step=3, trials=2)
    assert second.run.rewound_to is not None
    assert second.run.rewound_to.run_id == first.run.id
    (before,) = kept(store, first.run)
    assert all(one.steps[:2] == before.steps[:2] for one in kept(store, second.run))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"turn": 9}, "has no turn 9: its turns are only 1"),
        ({"turn": 0}, "has no turn 0"),
        ({"step": 99}, "has no step 99: its steps are 1 to"),
        ({"turn": 1, "step": 1}, "one of them"),
        ({}, "one of them"),
        ({"turn": 1, "trial": 4}, "has no trial 4 of task 3: its trials are 0"),
        ({"turn": 1, "trials": 0}, "num-trials"),
        ({"turn": 1, "changes": {"agent_strategy": "tool-calling"}}, "name it by --model"),
        ({"turn": 1, "changes": {"agent_options": {"sucess": 1}}}, "sucess"),
    ],
)
def test_what_cannot_be_done_is_told_and_leaves_nothing(
    store: Store, options: dict[str, Any], told: str
) -> None:
    run = stored(store)
    with pytest.raises(InputError, match=told):
        start_rewind(store, run.name, 3, **options)
    with pytest.raises(InputError, match="the task was not played"):
        start_rewind(store, run.name, 33, turn=1)
    assert store.runs.all(parent=run.id) == []


def test_the_end_of_an_episode_is_no_place_to_go_on_from(store: Store) -> None:
    run = stored(store, max_num_steps=3)
    episode = store.runs.result(run.id, (3, 0))
    assert episode is not None
    assert len(episode.steps) == 3
    with pytest.raises(InputError, match="all of its 3 steps were taken"):
        start_rewind(store, run.name, 3, step=4)
    more = go_on(store, run.name, 3, step=4, trials=2, changes={"max_num_steps": 20})
    assert all(len(one.steps) > 3 for one in kept(store, more.run))
    whole = start_run(store, check_config({"end_index": 6}), name="whole")
    anyio.run(play_run, store, *whole)
    steps = store.runs.result(whole[0].id, (3, 0))
    assert steps is not None
    with pytest.raises(InputError, match="the conversation had ended by then"):
        start_rewind(store, "whole", 3, step=len(steps.steps) + 1)


@pytest.mark.slow
def test_a_killed_process_leaves_trials_that_go_on(store: Store, tmp_path: Path) -> None:
    stored(store)
    agent = tmp_path / "slow.py"
    agent.write_text(
        "import anyio\n"
        "from greenroom.domains.tasks import respond\n"
        "async def play(stage):\n"
        "    while not stage.over:\n"
        "        await anyio.sleep(0.2)\n"
        "        await stage.step(respond('Hello'))\n"
    )
    command = [sys.executable, "-c", COMMAND, "replay", "stored", "3", "--from-turn", "1"]
    command += ["--trials", "12", "--agent-strategy", f"{agent}:play", "--max-concurrency", "1"]
    process = subprocess.Popen(command, env=dict(os.environ), stderr=subprocess.DEVNULL)
    while not (runs := store.runs.all(parent=store.runs.find("stored").id)) or not kept(
        store, runs[0]
    ):
        time.sleep(0.05)
    with pytest.raises(InputError, match="are under way"):
        start_rewind(
            store,
            "stored",
            3,
            turn=1,
            trials=12,
            changes={"agent_strategy": f"{agent}:play", "max_concurrency": 1},
        )
    with pytest.raises(InputError, match="is under way: stop it first"):
        store.runs.delete(store.runs.find("stored"))
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = kept(store, runs[0])
    assert 0 < len(done) < 12
    run, context = reopen_run(store, runs[0].name)
    assert context.history is not None
    # The lease of a dead process of this machine is free.
    anyio.run(play_run, store, run, context)
    after = kept(store, run)
    assert len(after) == 12
    assert after[: len(done)] == done


# Language models


def asking(api_base: str, **changes: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "agent_strategy": "tool-calling",
        "agent_options": dict[str, Any](),
        "model": "oracle",
        "api_base": api_base,
        "user_strategy": "llm",
        "user_model": "user",
        "user_api_base": api_base,
        "end_index": 3,
    }
    return fields | changes


@pytest.mark.parametrize("agent", ["tool-calling", "react", "act", "structured"])
@pytest.mark.parametrize("user", ["llm", "react", "verify", "reflection"])
def test_agents_and_users_with_models_go_on(retail: Domain, agent: str, user: str) -> None:
    store = open_store()
    with running_server(retail) as server:
        config = asking(server.api_base, agent_strategy=agent, user_strategy=user, end_index=1)
        run = stored(store, **config)
        before = store.runs.result(run.id, (0, 0))
        assert before is not None
        for turn in range(1, before.turns + 1):
            outcome = go_on(store, run.name, 0, turn=turn, trials=2)
            for episode in kept(store, outcome.run):
                assert episode.outcome == "success"
                assert episode.steps == before.steps
                # What was said before costs nothing again.
                assert episode.usage["agent"].calls < before.usage["agent"].calls or turn == 1
    store.close()


@pytest.mark.anyio
async def test_a_model_is_asked_exactly_what_it_would_have_been_asked() -> None:
    store = open_store()
    async with running_stub() as stub:
        stub.replies = [
            answers("Who are you?", reasoning_content="They want something."),
            answers(None, tool_calls=[call("find_user_id_by_name_zip", zip="1"), call("think")]),
            answers("Hm."),
            answers("Done."),
        ]
        config = asking(stub.api_base, user_strategy="scripted", user_model=None, end_index=1)
        user = {"user_strategy": f"{__file__}:patient"}
        run, context = start_run(store, check_config(config | user | {"max_num_steps": 5}))
        await play_run(store, run, context)
        asked = [one["messages"] for one in stub.asked]
        (before,) = kept(store, run)
        assert [step.turn for step in before.steps] == [1, 2, 2, 2, 3]
        for turn, start in ((1, 0), (2, 1), (3, 3)):
            stub.asked.clear()
            stub.replies = stub.replies[-1:]
            started = await anyio.to_thread.run_sync(
                lambda turn=turn: start_rewind(store, run.name, 0, turn=turn)
            )
            await play_run(store, started.run, started.context)
            assert stub.asked[0]["messages"] == asked[start]
            (after,) = kept(store, started.run)
            assert after.seed != before.seed
            assert stub.asked[0]["seed"] == after.seed
    store.close()


def call(name: str, **arguments: Any) -> dict[str, Any]:
    import json

    return {
        "id": f"id-{name}",
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }


def patient(content: str) -> str:
    """A user who always waits."""
    return f"I wait, since you said: {content}"


@pytest.mark.slow
def test_agents_that_cannot_take_over_say_what_can_be_done(store: Store, tmp_path: Path) -> None:
    run = stored(store)
    file = tmp_path / "agents.py"
    file.write_text(
        "import random\n"
        "from greenroom.domains.tasks import respond\n"
        "class Moody:\n"
        "    async def play(self, stage):\n"
        "        while not stage.over:\n"
        "            await stage.step(respond(str(random.random())))\n"
        "class Asking:\n"
        "    needs_model = True\n"
        "    async def play(self, stage): ...\n"
        "class Never:\n"
        "    takes_over = 'never'\n"
        "    async def play(self, stage): ...\n"
        "class Knowing:\n"
        "    takes_over = 'history'\n"
        "    def __init__(self, context):\n"
        "        self.history = context.history\n"
        "    async def play(self, stage):\n"
        "        while not stage.over:\n"
        "            await stage.step(respond(f'{len(self.history.steps)} steps before'))\n"
    )

    def by(name: str, **more: Any) -> StartedRewind:
        changes = {"agent_strategy": f"{file}:{name}", **more}
        return go_on(store, run.name, 3, step=3, changes=changes)

    with pytest.raises(InputError, match=r"it does respond where .* was recorded, at step 1 of 2"):
        by("Moody")
    with pytest.raises(InputError, match="no messages of it were recorded"):
        by("Asking", model="m", api_base="http://127.0.0.1:1/v1")
    with pytest.raises(InputError, match="cannot go on in the middle of an episode"):
        by("Never")
    (episode,) = kept(store, by("Knowing").run)
    assert episode.steps[2].action.kwargs == {"content": "2 steps before"}


@pytest.mark.parametrize("text", ["x" * 100_000, "\ud800", "\x00", "'; DROP TABLE jobs; --"])
def test_hostile_texts_are_played_again_as_they_are(store: Store, text: str) -> None:
    run = stored(store)
    episode = store.runs.result(run.id, (3, 0))
    assert episode is not None
    steps = [
        {"action": {"name": text, "kwargs": {text: [text, {"a": None}]}}, "observation": text},
        {"action": {"name": "respond", "kwargs": {"content": text}}, "observation": text},
        {"action": {"name": "respond", "kwargs": {"content": 5}}, "observation": text},
    ]
    rows = [one | {"source": text, "turn": 1} for one in steps]
    hostile = EpisodeRecord.model_validate(
        episode.model_dump() | {"trial": 5, "steps": rows, "opening": text, "details": None}
    )
    assert store.runs.add(run.id, [hostile]) == [True]
    started = go_on(store, run.name, 3, trial=5, step=4, trials=1)
    (after,) = kept(store, started.run)
    assert len(after.steps) > 3
    assert [one.step for one in started.differences] == [0]
