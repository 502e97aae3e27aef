"""Schemas from type hints."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from greenroom import chat_workflow, workflow
from greenroom.messages import Message
from greenroom.workflows import Call, InvalidCall, LocalTarget, Workflow

MESSAGES = {"type": "array", "x-ag-type-ref": "messages"}
MESSAGE = {"type": "object", "x-ag-type-ref": "message"}


class Address(BaseModel):
    city: str


class Customer(BaseModel):
    name: str
    address: Address
    tier: Literal["gold", "silver"] = "silver"


def test_inputs_and_outputs_of_a_chat_workflow() -> None:
    @chat_workflow
    def reply(messages: list[Message], customer: Customer, mood: str = "fine") -> Message: ...

    inputs = reply.schemas.inputs
    assert inputs is not None
    assert inputs["properties"]["messages"] == MESSAGES
    assert inputs["properties"]["customer"] == {"$ref": "#/$defs/Customer"}
    assert inputs["properties"]["mood"] == {"type": "string", "default": "fine"}
    assert inputs["required"] == ["messages", "customer"]
    assert set(inputs["$defs"]) == {"Customer", "Address"}
    assert reply.schemas.outputs == MESSAGE


def test_several_messages_are_an_array() -> None:
    @chat_workflow
    def several(messages: Any) -> list[Message]: ...

    assert several.schemas.outputs == MESSAGES


def test_a_workflow_that_is_no_chat_does_not_call_its_messages_a_history() -> None:
    @workflow
    def count(messages: list[Any]) -> int: ...

    assert count.schemas.inputs == {
        "type": "object",
        "properties": {"messages": {"type": "array"}},
        "required": ["messages"],
    }
    assert count.schemas.outputs == {"type": "integer"}


def test_a_model_of_all_inputs_gives_their_schema() -> None:
    @chat_workflow
    def reply(messages: Any, inputs: Customer) -> Any: ...

    inputs = reply.schemas.inputs
    assert inputs is not None
    assert set(inputs["properties"]) == {"messages", "name", "address", "tier"}
    assert inputs["required"] == ["messages", "name", "address"]


def test_what_generators_give() -> None:
    @workflow
    def text() -> Iterator[str]:
        yield ""

    @workflow
    async def numbers() -> AsyncIterator[int]:
        yield 1

    @workflow
    def anything() -> Any:
        yield 1

    assert text.schemas.outputs == {"type": "string"}
    assert numbers.schemas.outputs == {"type": "array", "items": {"type": "integer"}}
    assert anything.schemas.outputs == {}


def test_parameters_tell_their_types_and_defaults() -> None:
    @workflow(parameters={"tone": "kind", "words": 3, "strict": True, "stop": None})
    def reply() -> None: ...

    assert reply.schemas.parameters == {
        "type": "object",
        "properties": {
            "tone": {"type": "string", "default": "kind"},
            "words": {"type": "integer", "default": 3},
            "strict": {"type": "boolean", "default": True},
            "stop": {"default": None},
        },
    }

    @workflow(parameters=Customer(name="Ann", address=Address(city="Rome")))
    def other() -> None: ...

    assert other.schemas.parameters is not None
    assert other.schemas.parameters["properties"]["name"]["default"] == "Ann"


@workflow
def typed(
    count: int,
    names: list[str],
    size: Literal["small", "large"],
    ratio: float = 0.5,
    note: str | None = None,
) -> None:
    """Takes all sorts of inputs."""


VALUES: dict[str, st.SearchStrategy[Any]] = {
    "count": st.integers(),
    "names": st.lists(st.text(max_size=3), max_size=2),
    "size": st.sampled_from(["small", "large"]),
    "ratio": st.floats(allow_nan=False, allow_infinity=False),
    "note": st.none() | st.text(max_size=3),
}


@given(
    st.dictionaries(st.sampled_from(list(VALUES)), st.just(None)).flatmap(
        lambda names: st.fixed_dictionaries({name: VALUES[name] for name in names})
    )
)
@pytest.mark.parametrize("one", [typed], ids=["typed"])
def test_what_fits_the_schema_can_be_called(one: Workflow, inputs: dict[str, Any]) -> None:
    import anyio

    assert one.schemas.inputs is not None
    fits: bool = Draft202012Validator(one.schemas.inputs).is_valid(inputs)  # pyright: ignore
    try:
        anyio.run(LocalTarget(one).call, Call(inputs=inputs))
        taken = True
    except InvalidCall:
        taken = False
    assert taken == fits


def test_an_untyped_chat_workflow_advertises_all_that_it_may_return() -> None:
    @chat_workflow
    def untyped(messages: Any) -> Any:
        return messages

    schema = untyped.schemas.outputs
    assert schema is not None
    assert schema["x-ag-type-ref"] == "message"
    check: Any = Draft202012Validator(schema)
    message = {"role": "assistant", "content": "a"}
    for returned in (message, [message, message], {"messages": [message]}):
        check.validate(returned)
    assert not check.is_valid("text")
