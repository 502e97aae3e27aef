"""Users that take over a recorded conversation remember what was said in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import anyio
import pytest

from greenroom.agents import Stage
from greenroom.domains.environment import Environment
from greenroom.domains.past import past_messages
from greenroom.domains.tasks import InitialState, Task, respond
from greenroom.errors import InputError
from greenroom.models import Completion, FakeModel, ModelRequest
from greenroom.users import ScriptedUser, UserContext, find_user_strategy
from greenroom.users.llm import LlmUser
from greenroom.users.taking_over import take_over
from tests.domains.small import small_domain

INSTRUCTION = "You want tea."


@dataclass
class Model:
    """Answers with the number of messages that it was asked with."""

    form: str = "Line {}"
    asked: list[list[dict[str, Any]]] = field(default_factory=list[list[dict[str, Any]]])

    async def complete(self, request: ModelRequest) -> Completion:
        self.asked.append([dict(one) for one in request.messages])
        text = self.form.format(len(request.messages))
        return Completion(message={"role": "assistant", "content": text})


HEARD = ["Hello.", "", "What kind?", "With milk?"]


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("llm", "Line {}"),
        ("verify", "Line {}\nVerdict: accept"),
        ("reflection", "Line {}\nVerdict: accept"),
        ("react", "User Response: Line {}"),
    ],
)
def test_a_model_is_asked_as_if_the_user_had_been_there(name: str, form: str) -> None:
    async def check() -> None:
        first = Model(form)
        user = find_user_strategy(name).create(UserContext(first))
        said = [await user.open(INSTRUCTION)]
        counts = [len(first.asked)]
        for content in HEARD:
            said.append(await user.reply(content))
            counts.append(len(first.asked))
        for kept in range(len(HEARD)):
            second = Model(form)
            other = find_user_strategy(name).create(UserContext(second))
            exchanges = list(zip(HEARD[:kept], said[1 : kept + 1], strict=True))
            await take_over(other, INSTRUCTION, said[0], exchanges, name=name, asks_model=True)
            assert second.asked == []
            assert await other.reply(HEARD[kept]) == said[kept + 1]
            assert second.asked == first.asked[counts[kept] : counts[kept + 1]]

    anyio.run(check)


class Counting:
    """A user that asks no model and remembers how much it heard."""

    def __init__(self) -> None:
        self._heard = 0

    async def open(self, instruction: str) -> str:
        return instruction

    async def reply(self, content: str) -> str:
        self._heard += 1
        return f"{self._heard}: {content}"


def test_a_user_without_a_model_is_talked_through_the_conversation() -> None:
    async def check() -> None:
        user = Counting()
        exchanges = [("a", "1: a"), ("b", "2: b")]
        await take_over(user, "Go.", "Go.", exchanges, name="counting", asks_model=False)
        assert await user.reply("c") == "3: c"
        other = [("a", "1: a"), ("b", "else")]
        with pytest.raises(InputError, match="its message 3 is not the recorded one"):
            await take_over(Counting(), "Go.", "Go.", other, name="counting", asks_model=False)
        with pytest.raises(InputError, match="it has no method take_over"):
            await take_over(user, "Go.", "Go.", exchanges, name="counting", asks_model=True)

    anyio.run(check)


@pytest.mark.parametrize("asks_model", [True, False])
def test_a_task_whose_past_ends_with_the_user_needs_one_who_can_go_on(*, asks_model: bool) -> None:
    join = partial(take_over, Counting(), "Go.", "", [], name="counting", asks_model=asks_model)
    with pytest.raises(InputError, match=r"past messages of the task.*no method take_over.*Give"):
        anyio.run(join)


def test_a_scripted_user_goes_on_behind_its_lines() -> None:
    async def check() -> None:
        user = ScriptedUser(["one", "two", "three"])
        await take_over(user, "Go.", "Go.", [("a", "one")], name="scripted", asks_model=False)
        assert await user.reply("b") == "two"

    anyio.run(check)


HISTORY = (
    {"role": "assistant", "content": "Hello."},
    {"role": "user", "content": "Light the hall."},
)


@pytest.mark.anyio
async def test_a_user_whose_message_ends_the_history_hears_the_agent_next() -> None:
    task = Task("You want light.", initial=InitialState(messages=HISTORY))
    model = FakeModel(["Thanks. ###STOP###"])
    user = LlmUser(model, past=past_messages(task, "user"))
    environment = Environment(small_domain(task), user)
    assert await environment.reset(0) == ""
    assert model.requests == []
    stage = Stage(environment)
    assert stage.opening == "Light the hall."
    assert stage.opening_messages == [*HISTORY]
    await stage.step(respond("Done."))
    assert stage.over
    said = [(one["role"], one["content"]) for one in model.requests[0].messages[1:]]
    assert said == [("user", "Hello."), ("assistant", "Light the hall."), ("user", "Done.")]


@pytest.mark.anyio
async def test_an_agent_goes_on_after_the_result_of_its_call() -> None:
    call = {"id": "1", "name": "light", "arguments": {"lamp": "hall"}, "requestor": "assistant"}
    messages = (
        *HISTORY,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "id": "1", "requestor": "assistant", "content": "lit"},
    )
    environment = Environment(
        small_domain(Task("x", initial=InitialState(messages=messages))), ScriptedUser()
    )
    assert await environment.reset(0) == ""
    assert [one["role"] for one in Stage(environment).opening_messages][-2:] == [
        "assistant",
        "tool",
    ]
