"""Stored episodes that go on over the API: by hand, by the agent, n times."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import anyio
import pytest

from greenroom.benchmark import check_config, play_run, start_run
from greenroom.benchmark.rewind import find_point, open_at
from greenroom.domains.domain import Domain
from greenroom.model_server import RunningServer, running_server
from greenroom.store import EpisodeRecord, RunRecord, Store
from greenroom.workflows.calls import called_tools
from tests.playground.conftest import Open
from tests.playground.stored_runs import HOSTILE
from tests.playground.talking import Talk, wait_for

TASK = 5


@pytest.fixture(scope="module")
def server(retail: Domain) -> Generator[RunningServer]:
    with running_server(retail) as running:
        yield running


def played(store: Store, name: str = "stored", **config: Any) -> RunRecord:
    """A run of three tasks that was played to its end."""
    fields = {"task_ids": [3, TASK], "agent_strategy": "synthetic", "agent_options": {"success": 1}}
    run, context = start_run(store, check_config(fields | config), name=name)
    anyio.run(play_run, store, run, context)
    return store.runs.find(run.id)


def with_models(store: Store, server: RunningServer) -> tuple[RunRecord, EpisodeRecord]:
    run = played(
        store,
        agent_strategy="tool-calling",
        agent_options={},
        model="oracle",
        api_base=server.api_base,
        user_strategy=str(Path(__file__).with_name("twice_user.py")),
    )
    episode = store.runs.result(run.id, (TASK, 0))
    assert episode is not None
    assert episode.turns > 1
    return run, episode


def run_draft(talk: Talk, thread: Any) -> Any:
    """Let the agent answer what the user said last."""
    answer = talk.api.post(f"threads/{thread['id']}/turns", json={"version": thread["version"]})
    assert answer.status_code == 200, answer.text
    return talk.get(f"threads/{thread['id']}")


def calls(thread: Any) -> list[str]:
    return [
        call["name"]
        for turn in thread["turns"]
        for message in turn["replies"]
        for call in called_tools(message)
    ]


def test_an_episode_opens_at_a_turn_and_the_agent_goes_on(
    store: Store, open_playground: Open, server: RunningServer
) -> None:
    run, episode = with_models(store, server)
    talk = Talk(open_playground(store).api)
    for turn in range(1, episode.turns + 1):
        rewound = talk.post("rewinds", run=run.name, task=TASK, turn=turn)
        assert rewound["differences"] == []
        assert rewound["point"]["turn"] == turn
        [named] = talk.get("boards")["items"][0]["workflows"]
        assert named.startswith(f"{run.name}, task {TASK}")
        thread = talk.get(f"threads/{rewound['thread_id']}")
        kept = rewound["point"]["steps"]
        done = [one.action.name for one in episode.steps[:kept] if one.action.name != "respond"]
        assert calls(thread) == done
        assert thread["turns"][-1]["status"] == "draft"
        # The agent does what it did then, and says it in the same words.
        after = run_draft(talk, thread)
        last = after["turns"][-1]
        assert last["status"] == "done", last["error"]
        of_turn = [one for one in episode.steps if one.turn == turn]
        assert last["replies"][-1]["content"] == of_turn[-1].action.kwargs["content"]
        assert calls(after) == done + [
            one.action.name for one in of_turn if one.action.name != "respond"
        ]
        assert last["cost"] is None
        assert last["prompt_tokens"] > 0


@pytest.mark.slow
def test_the_world_is_that_of_the_conversation(
    store: Store, open_playground: Open, retail: Domain
) -> None:
    run = played(store)
    episode = store.runs.result(run.id, (TASK, 0))
    assert episode is not None
    last_write = max(n for n, step in enumerate(episode.steps, 1) if step.action.writes)
    talk = Talk(open_playground(store).api)
    rewound = talk.post("rewinds", run=run.id, task=TASK, step=last_write)
    place = f"threads/{rewound['thread_id']}"
    before = talk.get(f"{place}/world")
    point = find_point(run, episode, step=last_write)

    async def restored() -> Any:
        return await open_at(retail, episode, point, split="test", max_steps=30)

    changes = anyio.run(restored).environment.world.changes()
    assert [(one["table"], one["record"]) for one in before["records"]] == list(changes)
    assert (before["env"], before["task"], before["over"]) == ("retail", TASK, False)
    # By hand: the call that the agent made then.
    action = episode.steps[last_write - 1].action
    thread = talk.get(place)
    acted = talk.post(
        f"{place}/act", version=thread["version"], tool=action.name, arguments=action.kwargs
    )
    assert acted["turns"][-1]["replies"][-1]["content"] == episode.steps[last_write - 1].observation
    world = talk.get(f"{place}/world")
    changed = {(one["table"], one["record"]): one for one in world["turns"][-1]["records"]}
    assert len(changed) > len(before["records"])
    order = changed["orders", action.kwargs["order_id"]]
    assert order["kind"] == "changed"
    status = next(field for field in order["fields"] if field["path"] == "status")
    assert (status["before"], status["after"]) == ("pending", "cancelled")
    # Undo takes the world back, redo forth.
    talk.post(f"{place}/undo", version=acted["version"])
    assert talk.get(f"{place}/world")["records"] == before["records"]
    again = talk.post(f"{place}/redo", version=acted["version"] + 1)
    assert talk.get(f"{place}/world") == world
    # The agent says something, the user stops: the episode is over and scored.
    said = talk.post(f"{place}/act", version=again["version"], say="All done.")
    body = {"version": said["version"], "messages": [{"role": "user", "content": "###STOP###"}]}
    talk.api.post(f"{place}/turns", json={**body, "run": False}).raise_for_status()
    over = talk.get(f"{place}/world")
    assert over["over"]
    assert over["scored"]["database"]
    assert over["scored"]["reward"] == float(not over["scored"]["outputs"])


@pytest.mark.slow
def test_a_restarted_server_rebuilds_the_world(store: Store, open_playground: Open) -> None:
    run = played(store)
    first = Talk(open_playground(store).api)
    rewound = first.post("rewinds", run=run.name, task=TASK, turn=1)
    place = f"threads/{rewound['thread_id']}"
    thread = run_draft(first, first.get(place))
    world = first.get(f"{place}/world")
    second = Talk(open_playground(store).api)
    assert second.get(f"{place}/world") == world
    body = {"version": thread["version"], "messages": [{"role": "user", "content": "And now?"}]}
    second.api.post(f"{place}/turns", json=body).raise_for_status()
    assert second.get(place)["turns"][-1]["status"] == "done"
    assert second.get(f"{place}/world")["records"] == world["records"]


def test_trials_run_in_the_server(store: Store, open_playground: Open) -> None:
    run = played(store, agent_options={"success": 0.5})
    talk = Talk(open_playground(store).api)
    begun = talk.post("rewinds/trials", run=run.name, task=3, step=2, trials=10)
    name = begun["outcome"]["run_id"]

    def complete() -> Any:
        found = talk.get(f"rewinds/trials/{name}")
        return found if found["status"] == "complete" else None

    done = wait_for(complete)
    outcome = done["outcome"]
    assert outcome["trials"] == 10
    assert done["sentence"].startswith(f"From here it is solved {outcome['solved']} of 10 times")
    assert 0 <= outcome["low"] <= outcome["solved"] / 10 <= outcome["high"] <= 1
    [item] = talk.get("rewinds", run=run.name)["items"]
    assert (item["run_id"], item["finished"]) == (name, 10)
    assert item["solved"] == outcome["solved"] / 10
    assert talk.get("rewinds", run=run.name, task=4)["items"] == []
    # Its episodes open as those of any run; lists of runs leave it out.
    assert talk.get(f"runs/{name}/episodes/3/9")["trial"] == 9
    assert [one["name"] for one in talk.get("runs")["items"]] == [run.name]
    again = talk.post("rewinds/trials", run=run.name, task=3, step=2, trials=10)
    assert again["outcome"]["run_id"] == name
    talk.delete(f"rewinds/trials/{name}")
    assert "Unknown run" in talk.refused("GET", f"rewinds/trials/{name}", 404)


@pytest.mark.slow
def test_two_pages_start_the_same_trials(store: Store, open_playground: Open) -> None:
    run = played(store)
    talk = Talk(open_playground(store).api)
    ids: list[str] = []

    def start() -> None:
        answer = talk.api.post(
            "rewinds/trials", json={"run": run.name, "task": 3, "turn": 1, "trials": 5}
        )
        assert answer.status_code in (200, 422), answer.text
        if answer.status_code == 200:
            ids.append(answer.json()["outcome"]["run_id"])

    async def both() -> None:
        async with anyio.create_task_group() as tasks:
            for _ in range(2):
                tasks.start_soon(anyio.to_thread.run_sync, start)

    anyio.run(both)
    assert ids
    for run_id in ids:
        wait_for(lambda run_id=run_id: store.runs.find(run_id).status == "complete")
        assert len(list(store.runs.results(run_id))) == 5


def test_what_is_wrong_is_told_in_words(store: Store, open_playground: Open) -> None:
    run = played(store)
    talk = Talk(open_playground(store).api)
    place = {"run": run.name, "task": TASK}
    assert "has no turn 99" in talk.refused("POST", "rewinds", 422, **place, turn=99)
    assert "one of them" in talk.refused("POST", "rewinds", 422, **place)
    assert "has no trial 7" in talk.refused("POST", "rewinds", 422, **place, trial=7, turn=1)
    assert "Unknown run" in talk.refused("POST", "rewinds", 404, run="x", task=0, turn=1)
    place = place | {"turn": 1}
    asking = place | {"agent_strategy": "tool-calling"}
    assert "--model" in talk.refused("POST", "rewinds/trials", 422, **asking)
    for name in ("nobody", f"{__file__}:played"):
        nobody = place | {"agent_strategy": name}
        assert "Unknown agent" in talk.refused("POST", "rewinds/trials", 404, **nobody)
    assert "trials from a turn" in talk.refused("GET", f"rewinds/trials/{run.name}", 404)
    rewound = talk.post("rewinds", **place)
    thread = talk.get(f"threads/{rewound['thread_id']}")
    act = f"threads/{thread['id']}/act"
    version = thread["version"]
    assert "one of them" in talk.refused("POST", act, 422, version=version)
    assert "empty" in talk.refused("POST", act, 422, version=version, say=" ")
    assert "Unknown tool" in talk.refused("POST", act, 404, version=version, tool="rm")
    assert "in the meantime" in talk.refused("POST", act, 409, version=version - 1, say="Hi")
    wrong = talk.post(act, version=version, tool="get_order_details", arguments={"nonsense": 1})
    assert "Error" in wrong["turns"][-1]["replies"][-1]["content"]


def test_parameters_choose_another_agent(store: Store, open_playground: Open) -> None:
    run = played(store, agent_options={"success": 0})
    talk = Talk(open_playground(store).api)
    rewound = talk.post("rewinds", run=run.name, task=TASK, turn=1)
    place = f"threads/{rewound['thread_id']}"
    thread = talk.get(place)
    changed = talk.patch(place, version=thread["version"], parameters={"agent_strategy": "oracle"})
    after = run_draft(talk, changed)
    assert after["turns"][-1]["status"] == "done"
    episode = store.runs.result(run.id, (TASK, 0))
    assert episode is not None
    assert [one.name for one in episode.task.actions] == calls(after)
    for parameters, told in (
        ({"agent_strategy": "file.py:x"}, "Unknown agent"),
        ({"api_base": "http://169.254.169.254/v1"}, "Unknown parameter"),
        ({"agent_strategy": "fastworkflow"}, ""),
    ):
        copy = talk.post(f"{place}/copy")
        other = talk.patch(f"threads/{copy['id']}", version=copy["version"], parameters=parameters)
        body = {"version": other["version"], "messages": [{"role": "user", "content": "Go on."}]}
        talk.api.post(f"threads/{copy['id']}/turns", json=body)
        broken = talk.get(f"threads/{copy['id']}")["turns"][-1]
        assert broken["status"] == "broken"
        assert told in broken["error"]


def test_hostile_episodes_open_as_texts(store: Store, open_playground: Open) -> None:
    run = played(store)
    episode = store.runs.result(run.id, (TASK, 0))
    assert episode is not None
    step = {
        "action": {"name": HOSTILE, "kwargs": {HOSTILE: [None, {HOSTILE: "\ud800"}]}},
        "observation": HOSTILE,
        "source": "x",
        "turn": 1,
    }
    fields = episode.model_dump() | {"trial": 6, "opening": HOSTILE, "steps": [step] * 3}
    store.runs.add(run.id, [EpisodeRecord.model_validate(fields | {"details": None})])
    talk = Talk(open_playground(store).api)
    rewound = talk.post("rewinds", run=run.name, task=TASK, trial=6, step=4)
    assert [one["step"] for one in rewound["differences"]] == [1, 2, 3]
    thread = talk.get(f"threads/{rewound['thread_id']}")
    assert thread["turns"][0]["said"][0]["content"] == HOSTILE
    assert talk.get(f"threads/{thread['id']}/world")["records"] == []


@pytest.mark.slow
def test_users_say_several_things_and_never_before_the_agent_spoke(
    store: Store, open_playground: Open
) -> None:
    run = played(store)
    talk = Talk(open_playground(store).api)
    rewound = talk.post("rewinds", run=run.name, task=TASK, turn=1)
    place = f"threads/{rewound['thread_id']}"
    thread = talk.get(place)
    said = talk.say(thread, "And be quick.", "Please.")
    assert said["turns"][-1]["status"] == "done", said["turns"][-1]["error"]
    middle = talk.post("rewinds", run=run.name, task=TASK, step=3)
    broken = talk.say({"id": middle["thread_id"]}, "Hello?")["turns"][-1]
    assert broken["status"] == "broken"
    assert "The agent has not spoken to the user yet." in broken["error"]
    stopped = talk.post("rewinds", run=run.name, task=TASK, turn=1)
    over = talk.say({"id": stopped["thread_id"]}, "###STOP###")["turns"][-1]
    assert "This conversation is over" in over["error"]
