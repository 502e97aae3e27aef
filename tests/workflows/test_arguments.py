"""Arguments of handlers: bound by name, by type, checked and converted."""

from __future__ import annotations

import functools
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import anyio
import pytest
from pydantic import BaseModel, Field

from greenroom import chat_workflow, workflow
from greenroom.errors import InputError
from greenroom.messages import Message
from greenroom.workflows import Call, InvalidCall, LocalTarget, Workflow

if TYPE_CHECKING:
    from decimal import Decimal

MESSAGES = [{"role": "user", "content": "hi", "extra": 1}]


class Place(BaseModel):
    city: str
    zip: int = 0


class Settings(BaseModel):
    tone: str = "kind"
    words: int = Field(default=10, gt=0)


def call(one: Workflow, call: Call) -> Any:
    return anyio.run(LocalTarget(one).call, call).outputs


def problems(one: Workflow, asked: Call) -> list[tuple[str, str]]:
    with pytest.raises(InvalidCall) as error:
        call(one, asked)
    assert error.value.status == 422
    return [(".".join(map(str, found.where)), found.kind) for found in error.value.problems]


def test_every_part_of_a_call_binds_by_its_name() -> None:
    @workflow
    def parts(
        messages: Any,
        inputs: Any,
        parameters: Any,
        session_id: Any,
        tools: Any,
        request: Any,
        city: Any,
    ) -> Any:
        assert isinstance(request, Call)
        return [messages, inputs, parameters, session_id, tools, city]

    tools = [{"type": "function", "function": {"name": "look"}}]
    inputs = {"messages": MESSAGES, "city": "Rome"}
    asked = Call(inputs=inputs, parameters={"a": 1}, session_id="s", tools=tools)
    assert call(parts, asked) == [MESSAGES, inputs, {"a": 1}, "s", tools, "Rome"]


def test_parts_bind_by_type_where_the_name_says_nothing() -> None:
    @workflow(parameters=Settings)
    def parts(history: list[Message], settings: Settings, asked: Call, place: Place) -> Any:
        return [history[0].text, settings.tone, asked.session_id, place.city]

    asked = Call(inputs={"messages": MESSAGES, "place": {"city": "Rome"}}, session_id="s")
    assert call(parts, asked) == ["hi", "kind", "s", "Rome"]


@pytest.mark.parametrize(
    ("hint", "is_model"),
    [
        (Any, False),
        (list, False),
        (list[dict[str, Any]], False),
        (list[dict[str, Any]] | None, False),
        (list[Message], True),
        (Sequence[Message], True),
        (Annotated[list[Message], "history"], True),
    ],
)
def test_messages_are_what_the_hint_says(hint: Any, is_model: bool) -> None:
    def kind(messages: Any) -> Any:
        return [isinstance(messages[0], Message), isinstance(messages[0], dict)]

    kind.__annotations__["messages"] = hint
    assert call(workflow(kind), Call(inputs={"messages": MESSAGES})) == [is_model, not is_model]


def test_a_handler_may_add_to_its_messages_and_inputs() -> None:
    @workflow
    def greedy(messages: list[dict[str, Any]], inputs: dict[str, Any]) -> int:
        messages.append({"role": "user", "content": "more"})
        inputs["more"] = 1
        return len(messages)

    inputs = {"messages": list(MESSAGES)}
    assert call(greedy, Call(inputs=inputs)) == 2
    assert inputs == {"messages": MESSAGES}


def test_inputs_are_converted_to_their_types() -> None:
    @workflow
    def typed(count: int, place: Place, names: list[str], ratio: float = 0.5) -> Any:
        return [count, place.zip, names, ratio]

    inputs = {"count": "3", "place": {"city": "Rome", "zip": "7"}, "names": ["a"]}
    assert call(typed, Call(inputs=inputs)) == [3, 7, ["a"], 0.5]


def test_all_that_is_wrong_is_told_at_once() -> None:
    @workflow
    def typed(count: int, place: Place, name: str) -> None: ...

    assert problems(typed, Call(inputs={"count": "x", "place": {"zip": 1}})) == [
        ("inputs.count", "int_parsing"),
        ("inputs.place.city", "missing"),
        ("inputs.name", "missing"),
    ]


def test_the_rest_of_the_inputs_goes_to_the_keywords() -> None:
    @chat_workflow
    def rest(messages: Any, city: str, **others: Any) -> Any:
        return {"role": "assistant", "content": str(others)}

    @chat_workflow
    def all_of_it(**everything: Any) -> Any:
        return {"role": "assistant", "content": ",".join(everything)}

    asked = Call(inputs={"messages": MESSAGES, "city": "Rome", "mood": "fine"})
    assert call(rest, asked)["content"] == "{'mood': 'fine'}"
    assert call(all_of_it, asked)["content"] == "messages,city,mood"


def test_positional_and_variable_arguments_are_no_obstacle() -> None:
    @workflow
    def odd(a: int, b: int = 2, /, *others: int, c: int = 3) -> Any:
        return [a, b, others, c]

    assert call(odd, Call(inputs={"a": 1})) == [1, 2, [], 3]
    assert call(odd, Call(inputs={"a": 1, "b": 5, "c": 6})) == [1, 5, [], 6]


def test_inputs_can_be_a_model() -> None:
    @chat_workflow
    def where(messages: Any, inputs: Place) -> Any:
        return {"role": "assistant", "content": inputs.city}

    assert call(where, Call(inputs={"messages": MESSAGES, "city": "Rome"}))["content"] == "Rome"
    assert problems(where, Call(inputs={"messages": MESSAGES})) == [("inputs.city", "missing")]


def test_tools_may_lie_among_the_inputs() -> None:
    @workflow
    def offered(tools: list[dict[str, Any]] | None = None) -> Any:
        return tools

    assert call(offered, Call(inputs={"tools": [{"a": 1}]})) == [{"a": 1}]
    assert call(offered, Call(tools=[{"b": 1}], inputs={"tools": [{"a": 1}]})) == [{"b": 1}]
    assert call(offered, Call()) is None


def test_a_name_such_as_request_may_also_be_an_input() -> None:
    @workflow
    def asked(request: str) -> str:
        return request

    assert call(asked, Call(inputs={"request": "please"})) == "please"


def test_what_json_cannot_replace_is_left_to_its_default() -> None:
    lock = threading.Lock()

    @workflow
    def guarded(text: str, lock: threading._RLock = lock) -> Any:  # pyright: ignore
        with lock:
            return text

    assert call(guarded, Call(inputs={"text": "a", "lock": 1})) == "a"
    with pytest.raises(InputError, match="'worker' is a Thread, which JSON cannot express"):

        @workflow
        def needing(worker: threading.Thread) -> None: ...  # pyright: ignore[reportUnusedFunction]


def test_a_hint_for_type_checkers_only_is_no_obstacle() -> None:
    @workflow
    def price(amount: Decimal, count: int) -> Any:
        return [str(amount), count]

    assert call(price, Call(inputs={"amount": 3, "count": "2"})) == ["3", 2]


@pytest.mark.parametrize(
    ("messages", "places"),
    [
        (None, ["inputs.messages"]),
        ("hi", ["inputs.messages"]),
        ({"role": "user"}, ["inputs.messages"]),
        ([{"role": "user"}, 3, {"content": "x"}], ["inputs.messages.1", "inputs.messages.2"]),
        ([{"role": 1}], ["inputs.messages.0"]),
    ],
)
def test_messages_have_to_be_messages(messages: Any, places: list[str]) -> None:
    def by_name(messages: Any) -> Any: ...
    def by_inputs(inputs: Any) -> Any: ...
    def by_call(call: Any) -> Any: ...

    for one in (by_name, by_inputs, by_call):
        asked = Call(inputs={} if messages is None else {"messages": messages})
        assert [place for place, _ in problems(chat_workflow(one), asked)] == places


def test_messages_may_be_optional() -> None:
    @chat_workflow
    def greet(messages: list[Message] | None = None) -> Message:
        return Message(role="assistant", content="Hello!" if messages is None else "Again!")

    assert call(greet, Call()) == {"role": "assistant", "content": "Hello!"}
    assert call(greet, Call(inputs={"messages": MESSAGES}))["content"] == "Again!"
    assert greet.schemas.inputs is not None
    assert "required" not in greet.schemas.inputs


def test_parameters_have_defaults_that_a_call_overrides() -> None:
    @workflow
    def by_hint(parameters: Settings) -> Any:
        return parameters.tone, parameters.words

    @workflow(parameters=Settings(tone="cool"))
    def by_instance(parameters: Any) -> Any:
        return parameters.tone, parameters.words

    @workflow(parameters=Settings)
    def as_mapping(parameters: dict[str, Any]) -> Any:
        return parameters["tone"], parameters["words"]

    @workflow(parameters={"tone": "dry", "words": 4})
    def by_mapping(parameters: Any) -> Any:
        return parameters["tone"], parameters["words"]

    every = {by_hint: "kind", by_instance: "cool", as_mapping: "kind", by_mapping: "dry"}
    for one, tone in every.items():
        words = 4 if one is by_mapping else 10
        assert one.configuration.defaults == {"tone": tone, "words": words}
        assert call(one, Call()) == [tone, words]
        assert call(one, Call(parameters={"words": 3})) == [tone, 3]


def test_wrong_parameters_are_told_even_if_the_handler_does_not_look() -> None:
    @workflow(parameters=Settings)
    def blind(text: str) -> str:
        return text

    asked = Call(inputs={"text": "a"}, parameters={"words": -1})
    assert problems(blind, asked) == [("parameters.words", "greater_than")]
    assert call(blind, Call(inputs={"text": "a"}, parameters={"words": 1})) == "a"


def test_parameters_without_a_default_have_to_come_with_the_call() -> None:
    class Needs(BaseModel):
        key: str
        words: int = 3

    @workflow(parameters=Needs)
    def needy(parameters: Needs) -> str:
        return parameters.key * parameters.words

    assert needy.configuration.defaults == {"words": 3}
    assert problems(needy, Call()) == [("parameters.key", "missing")]
    assert call(needy, Call(parameters={"key": "a"})) == "aaa"


def test_defaults_that_do_not_fit_their_model_are_refused() -> None:
    with pytest.raises(InputError, match="default parameters do not fit Settings"):

        @workflow(parameters={"words": 0})
        def wrong(parameters: Settings) -> None: ...  # pyright: ignore[reportUnusedFunction]


def test_a_call_cannot_change_the_defaults() -> None:
    @workflow(parameters={"seen": []})
    def remember(parameters: dict[str, Any]) -> int:
        parameters["seen"].append(1)
        return len(parameters["seen"])

    assert [call(remember, Call()) for _ in range(2)] == [1, 1]


class Adder:
    """An object that can be called, with a method that is decorated."""

    async def __call__(self, amount: int) -> int:
        return amount + 1

    def method(self, amount: int) -> int:
        return amount + 2


def test_hints_of_methods_and_objects_are_read() -> None:
    def three(first: int, amount: int) -> int:
        return first + amount

    @functools.wraps(three)
    def wrapped(*arguments: Any, **named: Any) -> Any:
        return three(*arguments, **named)

    handlers = (Adder(), Adder().method, functools.partial(three, 3), functools.partial(wrapped, 4))
    found = [call(workflow(name="w")(one), Call(inputs={"amount": "1"})) for one in handlers]
    assert found == [2, 3, 4, 5]
