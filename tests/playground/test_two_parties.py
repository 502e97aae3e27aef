"""Threads in domains where users act: their calls are kept, and simulated users act in them."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from greenroom.benchmark import check_config, play_run, start_run
from greenroom.model_server import running_server
from greenroom.store import Store
from greenroom.workflows.calls import called_tools
from tests.domains.thermostats import PATH, thermostats
from tests.playground.conftest import Open
from tests.playground.talking import Talk, wait_for


def users_calls(thread: Any) -> list[str]:
    return [
        call["name"]
        for turn in thread["turns"]
        for message in turn["said"]
        for call in called_tools(message)
    ]


def played(store: Store, api_base: str) -> str:
    config: dict[str, Any] = {
        "env": str(PATH),
        "agent_strategy": "tool-calling",
        "model": "oracle",
        "api_base": api_base,
        "user_strategy": "llm",
        "user_model": "user",
        "user_api_base": api_base,
    }
    run, context = start_run(store, check_config(config), name="warm")
    anyio.run(play_run, store, run, context)
    return run.name


def test_an_episode_is_shown_with_the_users_calls(store: Store, open_playground: Open) -> None:
    with running_server(thermostats()) as server:
        played(store, server.api_base)
        talk = Talk(open_playground(store).api)
        episode = talk.get("runs/warm/episodes/0/0")
    assert episode["reward"] == 1.0
    by_user = [one["tool"] for one in episode["items"] if (one["kind"], one["who"]) == CALL]
    assert by_user == ["read_display", "set_mode"]
    assert [one["party"] for one in episode["truth"]] == ["user", "agent", "user"]
    assert {one["name"]: one["counts"] for one in episode["parts"]} == {
        "database": True,
        "assertions": True,
    }


CALL = ("call", "user")


@pytest.mark.slow
def test_a_user_acts_in_the_thread_of_an_episode(store: Store, open_playground: Open) -> None:
    with running_server(thermostats()) as server:
        played(store, server.api_base)
        talk = Talk(open_playground(store).api)
        opened = talk.post("rewinds", run="warm", task=0, trial=0, turn=2)
        place = f"threads/{opened['thread_id']}"
        assert users_calls(talk.get(place)) == ["read_display"]
        talk.post(f"{place}/simulate", steps="end")
        wait_for(lambda: talk.get(f"{place}/simulate")["state"] in ("done", "broken"))
        status = talk.get(f"{place}/simulate")
        assert status["state"] == "done", talk.get(place)["turns"][-1]["error"]
        assert users_calls(talk.get(place)) == ["read_display", "set_mode"]
        world, thread = talk.get(f"{place}/world"), talk.get(place)
    assert world["scored"]["reward"] == 1.0
    # What the user does before they speak stands with what they say.
    by_turn = {
        one["turn_id"]: {record["table"] for record in one["records"]} for one in world["turns"]
    }
    turns = [by_turn.get(one["id"], set()) for one in thread["turns"]]
    assert turns[:3] == [set(), {"accounts", "user.thermostats"}, {"user.thermostats"}]
    changed = {
        (record["table"], field["path"])
        for record in world["records"]
        for field in record["fields"]
    }
    assert changed == {
        ("accounts", "paired"),
        ("user.thermostats", "locked"),
        ("user.thermostats", "mode"),
    }
