"""Users with tools: what their models are asked, what is carried out, and what is kept."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from greenroom.domains import Action, Environment, respond
from greenroom.domains.tasks import STOP
from greenroom.models import ChatMessage, FakeModel, ModelUnavailable
from greenroom.users import UserContext, find_user_strategy
from greenroom.users.human import HumanUser
from greenroom.users.llm import MAX_CALLS, LlmUser
from greenroom.users.requests import request_for, requested_calls
from tests.domains.small import small_domain
from tests.domains.thermostats import thermostats

pytestmark = pytest.mark.anyio


def call(name: str, arguments: Any = None, content: str | None = None) -> ChatMessage:
    function = {"name": name, "arguments": json.dumps(arguments or {})}
    return {"role": "assistant", "content": content, "tool_calls": [{"function": function}]}


async def opened(user: Any) -> Environment:
    environment = Environment(thermostats(), user)
    await environment.reset(0)
    return environment


async def test_a_model_acts_until_it_says_something() -> None:
    model = FakeModel(
        [
            "My heating is off.",
            call("read_display", content="I look."),
            call("set_mode", {"mode": "heat"}),
            "It shows 4711, but the buttons are locked.",
        ]
    )
    environment = await opened(LlmUser(model))
    step = await environment.step(respond("What does it show?"))
    assert step.observation == "It shows 4711, but the buttons are locked."
    assert [one.action.name for one in step.user_calls] == ["read_display", "set_mode"]
    assert step.user_calls[1].failed
    names = [info["function"]["name"] for info in model.requests[-1].tools or []]
    assert names == ["read_display", "set_mode"]
    roles = [message["role"] for message in model.requests[-1].messages]
    assert roles == ["system", "user", "assistant", "user", *["assistant", "tool"] * 2]
    assert "4711" in model.requests[-1].messages[5]["content"]
    assert "You can act" in model.requests[0].messages[0]["content"]


@pytest.mark.parametrize("name", ["llm", "react", "verify", "reflection"])
async def test_every_user_of_a_model_acts(name: str) -> None:
    consent = ["Verdict: accept"] if name in ("verify", "reflection") else []
    model = FakeModel(["Hello.", *consent, call("read_display"), "User Response: 4711", *consent])
    user = find_user_strategy(name).create(UserContext(model))
    environment = await opened(user)
    step = await environment.step(respond("What does it show?"))
    assert step.observation.endswith("4711")
    assert [one.action for one in step.user_calls] == [Action("read_display", {}, "user")]


async def test_a_call_that_cannot_be_read_is_answered_and_not_made() -> None:
    broken = {"role": "assistant", "tool_calls": [{"function": {"name": "x", "arguments": "{"}}]}
    model = FakeModel(["Hello.", broken, "Sorry."])
    environment = await opened(LlmUser(model))
    step = await environment.step(respond("Look."))
    assert (step.observation, step.user_calls) == ("Sorry.", ())
    assert model.requests[-1].messages[-1]["content"].startswith("Error: the arguments are not")


async def test_calls_made_at_once_are_kept_as_one_message() -> None:
    both = call("read_display")
    both["tool_calls"] += call("set_mode", {"mode": "heat"})["tool_calls"]
    environment = await opened(LlmUser(FakeModel(["Hello.", both, call("read_display"), "Done."])))
    step = await environment.step(respond("Look."))
    assert [one.action.joined for one in step.user_calls] == [False, True, False]


async def test_a_model_that_never_speaks_is_given_up() -> None:
    model = FakeModel(["Hello.", *[call("read_display")] * (MAX_CALLS + 1)])
    environment = await opened(LlmUser(model))
    with pytest.raises(ModelUnavailable, match="still says nothing"):
        await environment.step(respond("Look."))


async def test_a_user_without_tools_is_asked_as_ever() -> None:
    model = FakeModel(["Hello."])
    environment = Environment(small_domain(), LlmUser(model))
    await environment.reset(0)
    assert model.requests[0].tools is None
    assert "You can act" not in model.requests[0].messages[0]["content"]


async def test_a_model_is_told_every_word_that_ends_the_chat() -> None:
    words = (STOP, "###TRANSFER###", "###OUT-OF-SCOPE###")
    model = FakeModel(["Hello."])
    user = find_user_strategy("react").create(UserContext(model, stop_words=words))
    await user.open("x")
    assert all(word in model.requests[0].messages[0]["content"] for word in words)


async def test_a_user_that_takes_over_remembers_what_it_did() -> None:
    model = FakeModel(["Hello.", call("read_display"), "4711.", "Yes."])
    first = await opened(LlmUser(model))
    await first.step(respond("What does it show?"))
    await first.step(respond("Shall I?"))
    again = FakeModel(["Yes."])
    user = LlmUser(again)
    second = Environment(thermostats(), user)
    task = second.domain.task(0)
    second.task, second.task_index = task, 0
    second.worlds = second.domain.worlds(task)
    second.equip_user(task, [first.opening_calls, first.steps[0].user_calls])
    user.take_over(task.instruction, "Hello.", [("What does it show?", "4711.")])
    assert await user.reply("Shall I?") == "Yes."
    assert again.requests[-1].messages == model.requests[-1].messages


async def test_a_person_lists_and_calls_tools() -> None:
    lines = iter(
        [
            "Cold here.",
            "/tools",
            "/call set_mode mode=heat",
            "/call set_mode heat",
            "/call 'x",
            "Ok.",
        ]
    )
    shown = StringIO()
    person = HumanUser(lambda _: next(lines), console=Console(file=shown, width=200))
    environment = await opened(person)
    step = await environment.step(respond("Try to heat."))
    assert step.observation == "Ok."
    assert [one.action.kwargs for one in step.user_calls] == [{"mode": "heat"}]
    said = shown.getvalue()
    assert "set_mode mode=...  Press the button for a mode." in said
    assert "the buttons are locked" in said
    assert "Write arguments as key=value" in said
    assert "That cannot be read" in said


def test_requests_are_read_back() -> None:
    wanted = [Action("a", {"x": ["1"]}, "user"), Action("b", {}, "user")]
    assert requested_calls(f"Hello.\n{request_for(wanted)}\nThanks.") == wanted
    assert requested_calls("Please bring:\n- milk") == []
