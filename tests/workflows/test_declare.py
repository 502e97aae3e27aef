"""Declaring: what becomes of a function, and what is refused with the line to write."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, TypedDict

import pytest
from pydantic import BaseModel

import greenroom
from greenroom import chat_workflow, workflow
from greenroom.errors import InputError
from greenroom.messages import Message
from greenroom.workflows import Schemas, Workflow

REPLY = {"role": "assistant", "content": "hi"}


class Tone(BaseModel):
    tone: str = "kind"


class Said(TypedDict):
    role: str
    content: str


@dataclass
class Spoken:
    role: str
    content: str


def takes_messages(messages: Any) -> Any: ...
def takes_inputs(inputs: Any) -> Any: ...
def takes_call(call: Any) -> Any: ...
def takes_request(request: Any) -> Any: ...
def takes_anything(**inputs: Any) -> Any: ...


def test_the_decorators_are_exported_at_the_top() -> None:
    assert {"workflow", "chat_workflow"} <= set(greenroom.__all__)
    with pytest.raises(AttributeError, match="no attribute 'workflows_'"):
        _ = greenroom.workflows_  # pyright: ignore


def test_a_declared_function_is_still_a_function() -> None:
    @workflow
    def add(a: int, b: int = 2) -> int:
        """Add numbers.

        Nothing else.
        """
        return a + b

    assert isinstance(add, Workflow)
    assert add(1) == 3
    assert add(1, b=5) == 6
    assert list(inspect.signature(add).parameters) == ["a", "b"]
    assert (add.name, add.slug, add.description) == ("add", "add", "Add numbers.")
    assert (add.is_chat, add.flags, add.streams) == (False, {}, False)
    with pytest.raises(AttributeError):
        add.name = "other"  # pyright: ignore


def test_names_flags_and_descriptions_can_be_given() -> None:
    @workflow(name="Support bot!", flags={"is_chat": True, "beta": 1}, description="Helps.")
    def reply(messages: list[dict[str, Any]]) -> dict[str, Any]:
        return REPLY

    assert (reply.name, reply.slug, reply.description) == ("Support bot!", "Support-bot", "Helps.")
    assert (reply.is_chat, reply.flags) == (True, {"is_chat": True, "beta": 1})
    assert reply.profile("app.py:reply").address == "app.py:reply"


def test_chat_workflow_sets_the_flag_beside_others() -> None:
    @chat_workflow(flags={"beta": True})
    def reply(messages: Any) -> Any:
        return REPLY

    assert reply.flags == {"beta": True, "is_chat": True}


def test_every_kind_of_handler_is_told_apart() -> None:
    async def coroutine(messages: Any) -> Any:
        return REPLY

    async def streaming(messages: Any) -> AsyncIterator[str]:
        yield "hi"

    def generator(messages: Any) -> Iterator[str]:
        yield "hi"

    class Called:
        async def __call__(self, messages: Any) -> Any:
            return REPLY

    kinds = [
        chat_workflow(one).kind
        for one in (takes_messages, coroutine, streaming, generator, Called())
    ]
    assert kinds == ["function", "coroutine", "async generator", "generator", "coroutine"]
    assert workflow(name="p")(partial(coroutine, messages=[])).kind == "coroutine"


@pytest.mark.parametrize(
    "returned",
    [
        Any,
        dict,
        dict[str, Any],
        dict[str, Any] | None,
        Said,
        Spoken,
        Message,
        list[Message],
        list[dict[str, Any]],
        tuple[Message, ...],
        Message | list[Message],
    ],
)
def test_hints_that_may_be_messages_are_taken(returned: Any) -> None:
    def reply(messages: Any) -> Any: ...

    reply.__annotations__["return"] = returned
    assert chat_workflow(reply).is_chat


@pytest.mark.parametrize(
    "returned", [int, str, bool, type(None), list[str], int | str, Tone, bytes, list[int] | None]
)
def test_hints_that_cannot_be_messages_are_refused_with_the_line_to_write(returned: Any) -> None:
    def reply(messages: Any) -> Any: ...

    reply.__annotations__["return"] = returned
    with pytest.raises(InputError, match=r"'reply' .*returns .* and not messages") as error:
        chat_workflow(reply)
    assert 'return {"role": "assistant", "content": ...}' in str(error.value)
    assert "test_declare.py:" in str(error.value)


def test_a_generator_may_yield_text_but_no_numbers() -> None:
    def fine(messages: Any) -> Iterator[str | dict[str, Any]]:
        yield "hi"

    def wrong(messages: Any) -> Iterator[int]:
        yield 1

    assert chat_workflow(fine).streams
    with pytest.raises(InputError, match=r'yields int by its hint.*\n  yield "some text"'):
        chat_workflow(wrong)


def test_a_chat_workflow_without_messages_is_refused_with_the_line_to_write() -> None:
    with pytest.raises(
        InputError, match=r"takes no messages. Write:\n  async def reply\(messages, city\):"
    ):

        @chat_workflow
        async def reply(city: str) -> dict[str, Any]:  # pyright: ignore[reportUnusedFunction]
            return REPLY


@pytest.mark.parametrize(
    "handler", [takes_messages, takes_inputs, takes_call, takes_request, takes_anything]
)
def test_messages_can_be_taken_in_several_ways(handler: Any) -> None:
    assert chat_workflow(handler).is_chat


def test_schemas_can_be_given_instead_of_inferred() -> None:
    outputs = {"type": "string"}

    @workflow(schemas={"outputs": outputs})
    def shout(text: str) -> Any:
        return text.upper()

    assert shout.schemas.outputs == outputs
    assert shout.schemas.inputs is not None
    assert shout.schemas.inputs["required"] == ["text"]
    assert workflow(schemas=Schemas(outputs=outputs))(shout.handler).schemas.outputs == outputs


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"schemas": {"outputs": {"type": "strange"}}}, "not a JSON schema"),
        (
            {"schemas": {"answers": {}}},
            "schemas are for inputs, parameters, outputs, not for answers",
        ),
        ({"flags": {"is_chat": "yes"}}, "is_chat is True or False, not 'yes'"),
        ({"flags": {"made": object()}}, "flags must be JSON"),
        ({"name": "!"}, "a name needs letters or digits"),
    ],
)
def test_wrong_declarations_are_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        workflow(**settings)(takes_inputs)


def test_only_what_can_be_called_is_declared() -> None:
    with pytest.raises(InputError, match="made of a function, not of 3"):
        workflow(3)  # pyright: ignore
