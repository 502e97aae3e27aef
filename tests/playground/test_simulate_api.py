"""Simulated users over the API: step by step, to the end, stopped; keys stay in the environment."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import anyio
import pytest

from greenroom.benchmark import check_config, play_run, start_run
from greenroom.domains.domain import Domain
from greenroom.model_server import RunningServer, running_server
from greenroom.store import Store
from greenroom.users.prompts import PERSONAS
from tests.models.stub_server import answers, running_stub
from tests.playground.conftest import Open
from tests.playground.talking import APP, Talk, wait_for


@pytest.fixture(scope="module")
def server(retail: Domain) -> Generator[RunningServer]:
    with running_server(retail) as running:
        yield running


@pytest.fixture
def talk(store: Store, open_playground: Open) -> Talk:
    return Talk(open_playground(store, [str(APP)]).api)


def settled(talk: Talk, thread: Any, *states: str) -> Any:
    """The simulation, once it is in one of these states."""

    def found() -> Any:
        status = talk.get(f"threads/{thread['id']}/simulate")
        return status if status["state"] in states else None

    return wait_for(found)


def said(talk: Talk, thread: Any) -> list[str]:
    turns = talk.get(f"threads/{thread['id']}")["turns"]
    return [message["content"] for turn in turns for message in turn["said"]]


def test_who_can_talk(talk: Talk) -> None:
    found = talk.get("simulated-users")
    names = {one["name"]: one["needs_model"] for one in found["items"]}
    assert names["llm"]
    assert not names["scripted"]
    assert "human" not in names
    assert "retail" in found["domains"]


def test_step_by_step_a_message_is_seen_before_it_is_sent(talk: Talk) -> None:
    thread = talk.thread("parrot")
    place = f"threads/{thread['id']}/simulate"
    assert talk.get(place)["state"] == "idle"
    wanted = {"user_strategy": "scripted", "goal": "Ask for tea.", "persona": "Ann"}
    talk.post(place, **wanted)
    ready = settled(talk, thread, "ready")
    assert ready["next"] == "Ask for tea.\n\nWho you are: Ann"
    assert said(talk, thread) == []
    talk.post(f"{place}/send", text="Tea, please.")
    assert settled(talk, thread, "idle")["turns"] == 1
    assert said(talk, thread) == ["Tea, please."]
    # It is an ordinary turn: answered, kept, and it can be undone.
    now = talk.get(f"threads/{thread['id']}")
    assert now["turns"][0]["status"] == "done"
    assert now["can_undo"]
    talk.post(place, **wanted)
    done = settled(talk, thread, "done")
    assert done["stops"]
    assert done["next"] is None
    assert said(talk, thread) == ["Tea, please."]
    assert "no message to send" in talk.refused("POST", f"{place}/send", 409)


@pytest.mark.slow
def test_to_the_end_with_a_model(
    talk: Talk, monkeypatch: pytest.MonkeyPatch, server: RunningServer
) -> None:
    monkeypatch.setenv("GREENROOM_API_KEY", "sk-planted-key-0123456789")
    user = {"model": "user", "api_base": server.api_base}
    thread = talk.thread("parrot")
    place = f"threads/{thread['id']}/simulate"
    begun = talk.post(place, **user, env="retail", task=5, steps="end", max_turns=3)
    assert begun["state"] == "thinking"
    done = settled(talk, thread, "done", "broken")
    assert done["error"] is None
    assert 1 <= done["turns"] <= 3
    assert done["calls"] >= done["turns"]
    assert len(said(talk, thread)) == done["turns"]
    everything = talk.api.get(f"threads/{thread['id']}").text + talk.api.get(place).text
    assert "sk-planted" not in everything


def test_the_user_remembers_the_thread_and_nothing_else(
    store: Store, open_playground: Open
) -> None:
    async def check() -> None:
        async with running_stub() as stub:
            stub.replies = [answers("And milk?")]
            await anyio.to_thread.run_sync(talked, stub.api_base)
            [asked] = stub.asked
            roles = [(one["role"], one["content"]) for one in asked["messages"][1:]]
            assert [role for role, _ in roles] == ["user", "assistant", "user"]
            assert roles[1] == ("assistant", "Tea, please.")
            assert "kind: Tea, please." in roles[2][1]
            assert "Get tea." in asked["messages"][0]["content"]

    def talked(api_base: str) -> None:
        talk = Talk(open_playground(store, [str(APP)]).api)
        thread = talk.thread("parrot")
        talk.say(thread, "Tea, please.")
        user = {"model": "m", "api_base": api_base}
        talk.post(f"threads/{thread['id']}/simulate", **user, goal="Get tea.")
        assert settled(talk, thread, "ready", "broken")["next"] == "And milk?"

    anyio.run(check)


def test_a_user_is_stopped(talk: Talk) -> None:
    thread = talk.thread("slow") if "slow" in APP.read_text() else talk.thread("parrot")
    place = f"threads/{thread['id']}/simulate"
    talk.post(place, user_strategy="scripted", goal="Ask.", steps="end")
    stopped = talk.post(f"{place}/stop")
    assert stopped["state"] in ("stopped", "done")
    assert talk.post(f"{place}/stop")["state"] == stopped["state"]


def test_an_episode_is_talked_to_its_end_and_scored(
    store: Store, open_playground: Open, server: RunningServer
) -> None:
    fields: dict[str, Any] = {
        "task_ids": [5],
        "agent_strategy": "tool-calling",
        "model": "oracle",
        "api_base": server.api_base,
        "user_strategy": "llm",
        "user_model": "user",
        "user_api_base": server.api_base,
    }
    run, context = start_run(store, check_config(fields), name="stored")
    anyio.run(play_run, store, run, context)
    talk = Talk(open_playground(store).api)
    rewound = talk.post("rewinds", run="stored", task=5, turn=1)
    thread = {"id": rewound["thread_id"]}
    # The user is that of the run, and wants what the task says.
    talk.post(f"threads/{thread['id']}/simulate", steps="end")
    done = settled(talk, thread, "done", "broken")
    assert done["error"] is None
    assert done["stops"]
    world = talk.get(f"threads/{thread['id']}/world")
    assert world["over"]
    assert world["scored"]["reward"] == 1.0
    assert world["scored"]["missing"] == []
    changed = {one["table"] for turn in world["turns"] for one in turn["records"]}
    assert changed == {"orders", "users"}


@pytest.mark.slow
def test_the_script_of_a_run_goes_on_in_its_threads(
    store: Store, open_playground: Open, server: RunningServer, tmp_path: Path
) -> None:
    script = tmp_path / "user.toml"
    script.write_text(
        "[[scripts]]\ntasks = [5]\nlines = ['And then?', 'Really?', 'I see.', {stop = true}]\n"
        "[[scripts]]\nlines = ['I am another one.']\n"
    )
    fields: dict[str, Any] = {
        "task_ids": [5],
        "agent_strategy": "tool-calling",
        "model": "oracle",
        "api_base": server.api_base,
        "user_options": {"script": str(script)},
    }
    run, context = start_run(store, check_config(fields), name="stored")
    anyio.run(play_run, store, run, context)
    (episode,) = store.runs.results(run.id)
    whole = [one.observation for one in episode.steps if one.action.name == "respond"]
    assert whole == ["And then?", "Really?", "I see.", "###STOP###"]
    script.unlink()
    talk = Talk(open_playground(store).api)
    thread = {"id": talk.post("rewinds", run="stored", task=5, turn=3)["thread_id"]}
    talk.post(f"threads/{thread['id']}/simulate", steps="end")
    done = settled(talk, thread, "done", "broken")
    assert (done["error"], done["stops"]) == (None, True)
    assert said(talk, thread)[-2:] == ["I see.", "###STOP###"]


def test_the_persona_of_a_run_goes_on_in_its_threads(store: Store, open_playground: Open) -> None:
    async def check() -> None:
        async with running_stub() as stub:
            stub.replies = [answers("Cancel it."), answers("###STOP###")]
            fields: dict[str, Any] = {
                "task_ids": [5],
                "agent_strategy": "oracle",
                "user_strategy": "llm",
                "user_model": "m",
                "user_api_base": stub.api_base,
                "user_persona": "terse",
            }
            run, context = start_run(store, check_config(fields), name="stored")
            await play_run(store, run, context)
            await anyio.to_thread.run_sync(talked)
            prompts = [one["messages"][0]["content"] for one in stub.asked]
            assert len(prompts) == 3
            assert all(PERSONAS["terse"] in prompt for prompt in prompts)

    def talked() -> None:
        talk = Talk(open_playground(store).api)
        thread = {"id": talk.post("rewinds", run="stored", task=5, turn=1)["thread_id"]}
        talk.post(f"threads/{thread['id']}/simulate")
        assert settled(talk, thread, "ready", "done", "broken")["error"] is None

    anyio.run(check)


@pytest.mark.slow
@pytest.mark.parametrize("steps", [1, "end"])
def test_last_words_end_an_episode_together_with_its_end(
    store: Store, open_playground: Open, server: RunningServer, steps: Any
) -> None:
    fields: dict[str, Any] = {
        "task_ids": [5],
        "agent_strategy": "tool-calling",
        "model": "oracle",
        "api_base": server.api_base,
        "user_strategy": "scripted",
    }
    run, context = start_run(store, check_config(fields), name="stored")
    anyio.run(play_run, store, run, context)

    async def check() -> None:
        async with running_stub() as stub:
            stub.replies = [answers("Thank you! ###STOP###")]
            await anyio.to_thread.run_sync(talked, stub.api_base)
            assert len(stub.asked) == 1

    def talked(api_base: str) -> None:
        talk = Talk(open_playground(store).api)
        thread = {"id": talk.post("rewinds", run="stored", task=5, turn=1)["thread_id"]}
        place = f"threads/{thread['id']}/simulate"
        user = {"user_strategy": "llm", "model": "m", "api_base": api_base}
        talk.post(place, **user, steps=steps)
        if steps == 1:
            # Nothing is said before a person saw it.
            assert settled(talk, thread, "ready", "broken")["next"] == "Thank you!"
            assert not any("STOP" in one for one in said(talk, thread))
            talk.post(f"{place}/send")
        done = settled(talk, thread, "done", "broken")
        assert (done["error"], done["stops"]) == (None, True)
        assert said(talk, thread)[-1] == "Thank you! ###STOP###"
        statuses = [one["status"] for one in talk.get(f"threads/{thread['id']}")["turns"]]
        assert statuses == ["done", "draft"]  # nobody answers last words
        assert talk.get(f"threads/{thread['id']}/world")["over"]
        talk.post(place, **user, steps=steps)
        assert "has ended" in settled(talk, thread, "broken")["error"]

    anyio.run(check)


@pytest.mark.parametrize("steps", [1, "end"])
def test_last_words_of_a_user_with_a_goal_get_no_answer(
    store: Store, open_playground: Open, steps: Any
) -> None:
    async def check() -> None:
        async with running_stub() as stub:
            stub.replies = [answers("Thank you! ###STOP###")]
            await anyio.to_thread.run_sync(talked, stub.api_base)

    def talked(api_base: str) -> None:
        talk = Talk(open_playground(store, [str(APP)]).api)
        thread = talk.thread("parrot")
        talk.say(thread, "Tea, please.")
        place = f"threads/{thread['id']}/simulate"
        user = {"model": "m", "api_base": api_base, "goal": "Get tea."}
        talk.post(place, **user, steps=steps)
        if steps == 1:
            assert settled(talk, thread, "ready", "broken")["next"] == "Thank you!"
            talk.post(f"{place}/send")
        done = settled(talk, thread, "done", "broken")
        assert (done["error"], done["stops"], done["turns"]) == (None, True, 1)
        turns = talk.get(f"threads/{thread['id']}")["turns"]
        assert [one["status"] for one in turns] == ["done", "draft"]
        assert said(talk, thread) == ["Tea, please.", "Thank you! ###STOP###"]

    anyio.run(check)


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ({"user_strategy": "human", "goal": "x"}, "is a person"),
        ({"user_strategy": "nobody.py:x", "goal": "x"}, "Unknown user strategy"),
        ({"goal": "x", "task": 3}, "one of them"),
        ({"goal": "x", "max_turns": 0}, "max_turns"),
        ({"goal": "x", "api_base": "http://169.254.169.254"}, "api_base"),
        ({"goal": "x", "steps": 7}, "steps"),
    ],
)
def test_what_cannot_be_done_is_refused(talk: Talk, wanted: dict[str, Any], told: str) -> None:
    thread = talk.thread("parrot")
    answer = talk.api.post(f"threads/{thread['id']}/simulate", json=wanted)
    assert answer.status_code in (404, 422)
    assert told in answer.json()["detail"]


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ({"user_strategy": "scripted"}, "Say what the user wants"),
        ({"goal": "x", "user_strategy": "llm"}, "name it"),
        ({"user_strategy": "scripted", "env": "retail", "task": 9999}, "There is no task 9999"),
        ({"user_strategy": "scripted", "env": "nowhere", "task": 1}, "nowhere"),
    ],
)
def test_what_breaks_is_told(talk: Talk, wanted: dict[str, Any], told: str) -> None:
    thread = talk.thread("parrot")
    talk.post(f"threads/{thread['id']}/simulate", **wanted)
    assert told in settled(talk, thread, "broken")["error"]


def test_a_workflow_that_breaks_ends_the_talk(talk: Talk) -> None:
    thread = talk.thread("http://127.0.0.1:9/")
    talk.post(f"threads/{thread['id']}/simulate", user_strategy="scripted", goal="Hi", steps="end")
    broken = settled(talk, thread, "broken")
    assert "The turn is broken" in broken["error"]
    told = talk.refused("GET", f"threads/{thread['id']}/world", 422)
    assert "no world to show" in told


@pytest.mark.slow
def test_the_world_of_an_agent_is_beside_its_thread(
    store: Store, open_playground: Open, server: RunningServer, retail: Domain
) -> None:
    address = f"agent:tool-calling?model=oracle&api_base={server.api_base}&task=5"
    talk = Talk(open_playground(store, [address]).api)
    thread = talk.thread(address)
    assert talk.get(f"threads/{thread['id']}/world")["records"] == []
    talk.post(f"threads/{thread['id']}/simulate", user_strategy="scripted", steps="end")
    done = settled(talk, thread, "done", "broken")
    assert done["error"] is None
    world = talk.get(f"threads/{thread['id']}/world")
    assert (world["env"], world["task"]) == ("retail", 5)
    assert {one["table"] for one in world["records"]} == {"orders", "users"}
    assert world["scored"]["reward"] == 1.0
    assert world["instruction"] == retail.task(5).instruction
