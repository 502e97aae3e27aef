"""From what a person types to something that can be called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from greenroom import chat_workflow, workflow
from greenroom.errors import InputError
from greenroom.workflows import Answer, Call, Event, LocalTarget, Target
from greenroom.workflows.call.as_completion import AsCompletion
from greenroom.workflows.call.opening import call_workflow, open_target
from greenroom.workflows.serve import create_app, running_app

APP = """
from greenroom import chat_workflow, workflow

@chat_workflow
def bot(messages, customer: str = "you"):
    return {"role": "assistant", "content": f"{messages[-1]['content']}, {customer}"}

@workflow
def capital(country: str) -> str:
    return f"the capital of {country}"
"""


@pytest.fixture
def app(tmp_path: Path) -> Path:
    path = tmp_path / "app.py"
    path.write_text(APP)
    return path


def test_a_workflow_in_a_file_and_behind_an_address(app: Path) -> None:
    near = call_workflow(f"{app}:bot", messages="hi", inputs={"customer": "Bob"})
    assert near.outputs == {"role": "assistant", "content": "hi, Bob"}
    history = [{"role": "user", "content": "hi"}]
    assert call_workflow(f"{app}:bot", messages=history).outputs["content"] == "hi, you"
    assert call_workflow(f"{app}:capital", inputs={"country": "France"}).outputs == (
        "the capital of France"
    )

    @chat_workflow
    def echo(messages: list[dict[str, Any]]) -> dict[str, Any]:
        return messages[-1]

    with running_app(create_app(echo)) as address:
        # Without the scheme, too.
        assert call_workflow(address.removeprefix("http://"), messages="hi").outputs == history[0]


def test_a_file_with_several_workflows_needs_a_name(app: Path) -> None:
    with pytest.raises(InputError, match=r"several workflows in .*: name one, as in .*app\.py:bot"):
        call_workflow(str(app), messages="hi")
    with pytest.raises(InputError, match="A model is named for an address"):
        call_workflow(f"{app}:bot", messages="hi", model="x")


# A chat workflow as a completion ------------------------------------------------------------------


@chat_workflow
def bot(messages: list[dict[str, Any]], customer: str = "you") -> list[dict[str, Any]]:
    said = {"role": "assistant", "content": f"{messages[-1]['content']}, {customer}"}
    return [{"role": "assistant", "content": "Let me see."}, said]


async def answered(target: Target, **inputs: Any) -> tuple[Answer, list[Event]]:
    call = Call(inputs=inputs)
    return await target.call(call), [event async for event in target.stream(call)]


def test_a_chat_workflow_as_a_completion() -> None:
    target = AsCompletion(LocalTarget(bot))
    assert not target.profile.is_chat
    assert target.profile.decided_by == (
        "the caller, who asks for a completion (the flag is_chat = true)"
    )
    answer, events = anyio.run(lambda: answered(target, question="hi", customer="Bob"))
    assert answer.outputs == "hi, Bob"
    assert events[-1].data.outputs == "hi, Bob"
    history = [{"role": "user", "content": "hello"}]
    assert anyio.run(lambda: answered(target, messages=history))[0].outputs == "hello, you"


def test_a_completion_of_a_chat_workflow_takes_one_text() -> None:
    target = AsCompletion(LocalTarget(bot))
    with pytest.raises(InputError, match=r"takes one text.* but the inputs have none\."):
        anyio.run(lambda: answered(target, customer="Bob", count=3))
    with pytest.raises(InputError, match=r"but the inputs have question, context\."):
        anyio.run(lambda: answered(target, question="hi", context="shop"))


def test_an_answer_of_tool_calls_alone_has_no_text() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    outputs = {"role": "assistant", "content": None, "tool_calls": [call]}

    @chat_workflow
    def caller(messages: list[dict[str, Any]]) -> dict[str, Any]:
        assert messages
        return outputs

    target = AsCompletion(LocalTarget(caller))
    assert anyio.run(lambda: answered(target, question="hi"))[0].outputs == outputs


def test_a_completion_stays_what_it_is() -> None:
    @workflow
    def capital(country: str) -> str:
        return f"the capital of {country}"

    async def opened(address: str) -> Target:
        target = await open_target(address, as_completion=True)
        await target.close()
        return target

    with running_app(create_app(capital)) as address:
        assert not isinstance(anyio.run(opened, address), AsCompletion)
    with running_app(create_app(bot)) as address:
        assert isinstance(anyio.run(opened, address), AsCompletion)
