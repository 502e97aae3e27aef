from __future__ import annotations

from typing import Any

import orjson
import pytest
from jsonschema import Draft202012Validator

from greenroom.domains.tasks import STOP, Task
from greenroom.model_server import RunningServer, running_server
from greenroom.model_server.planned_actions import GO_AHEAD
from greenroom.model_server.roles import GREETING
from greenroom.model_server.schemas import action_places, minimal_instance
from tests.domains.small import TASKS, small_domain
from tests.model_server.playing import ACT, action_format
from tests.model_server.wire import INSTRUCTION, OPENING, ask, said

USER = {"role": "system", "content": f"You are a user.\n\nInstruction: {INSTRUCTION}\nRules: none."}
GREETED = [USER, {"role": "user", "content": "Hi! How can I help you today?"}]
OPENED = [*GREETED, {"role": "assistant", "content": INSTRUCTION}]


def fits(value: Any, schema: dict[str, Any]) -> bool:
    validator: Any = Draft202012Validator(schema)
    return validator.is_valid(value)


def agent_says(text: str) -> list[dict[str, str]]:
    return [*OPENED, {"role": "user", "content": text}]


def test_the_user_opens_with_the_instruction(server: RunningServer) -> None:
    assert said(server, GREETED, model="user") == INSTRUCTION
    assert said(server, [USER], model="any-model") == INSTRUCTION
    before = server.stats.roles["user"]
    said(server, [USER])
    assert server.stats.roles["user"] == before + 1


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("I will light the hall. Is that right?", GO_AHEAD),
        ("Which lamp do you mean?", GO_AHEAD),
        ("You have 10 lamps. Shall I light the hall?", GO_AHEAD),
        ("I am on it.", GO_AHEAD),
        ("You have 10 lamps.", STOP),
        ("All done.", STOP),
        ("The lamp is lit. Is there anything else I can do?", STOP),
    ],
)
def test_the_user_consents_and_ends_when_it_is_done(
    server: RunningServer, text: str, reply: str
) -> None:
    assert said(server, agent_says(text)) == reply


def test_a_user_without_outputs_to_hear_waits_for_the_end(server: RunningServer) -> None:
    prompt = {"role": "system", "content": f"You are a user. {TASKS[0].instruction}!"}
    told = [prompt, {"role": "assistant", "content": "x"}, {"role": "user", "content": "A lamp."}]
    assert said(server, told) == GO_AHEAD
    assert said(server, [*told, {"role": "user", "content": "All done."}]) == STOP


def test_the_longest_instruction_wins() -> None:
    tasks = (Task("Light the hall."), Task("Light the hall. Then the attic."), Task(""))
    with running_server(small_domain(*tasks)) as server:
        for task in tasks[:2]:
            prompt = {"role": "system", "content": f"You play this: {task.instruction}"}
            assert said(server, [prompt]) == task.instruction


def test_a_user_who_was_told_nothing_says_hello(server: RunningServer) -> None:
    nothing = {"role": "system", "content": "You are a user interacting with an agent.\nRules:"}
    assert said(server, [nothing]) == GREETING


def test_the_react_user_thinks_first(server: RunningServer) -> None:
    prompt = {"role": "system", "content": USER["content"] + "\nThought:\n\nUser Response:\n"}
    first = said(server, [prompt])
    assert first == f"Thought: I say what the agent needs.\nUser Response: {INSTRUCTION}"
    last = said(server, [prompt, *OPENED[1:], {"role": "user", "content": "All done."}])
    assert last.endswith(f"User Response: {STOP}")


def test_the_verifying_user_is_satisfied(server: RunningServer) -> None:
    prompt = f"# Transcript:\nSystem: {USER['content']}\n# Response:\nHi\n-----\nClassification:"
    assert said(server, [{"role": "user", "content": prompt}]) == "true"


FAULT_SCHEMA: dict[str, Any] = {
    "$defs": {"author": {"enum": ["agent", "user", "environment"]}},
    "type": "object",
    "properties": {
        "author": {"$ref": "#/$defs/author"},
        "fault_type": {"type": "string", "enum": ["wrong_tool", "other"]},
        "description": {"type": "string"},
        "note": {"type": "string"},
    },
    "required": ["author", "fault_type", "description"],
    "additionalProperties": False,
}


def test_the_judge_fits_the_schema(server: RunningServer) -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "fault", "schema": FAULT_SCHEMA}}
    judged = [{"role": "user", "content": f"Who failed? The task was: {INSTRUCTION}"}]
    for messages in (judged, OPENING, [USER]):
        verdict = orjson.loads(said(server, messages, response_format=wanted))
        assert verdict == {"author": "agent", "fault_type": "wrong_tool", "description": "-"}


def test_the_judge_without_a_schema(server: RunningServer) -> None:
    prompt = f"Whose fault was it? Classify the fault of this task: {INSTRUCTION}"
    for changes in ({}, {"response_format": {"type": "json_object"}}):
        verdict = orjson.loads(said(server, [{"role": "user", "content": prompt}], **changes))
        assert verdict["author"] == "agent"
    assert server.stats.roles["judge"] >= 2


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string", "minLength": 2}, "--"),
        ({"type": "integer", "minimum": 1.5}, 2),
        ({"type": "integer", "exclusiveMinimum": 1}, 2),
        ({"type": "number", "maximum": -1}, -1),
        ({"type": "boolean"}, True),
        ({"type": ["null", "string"]}, None),
        ({"const": 7}, 7),
        ({"type": "string", "default": "x"}, "x"),
        ({"anyOf": [{"type": "null"}, {"type": "string"}]}, None),
        ({"type": "array", "items": {"enum": ["a"]}}, []),
        ({"type": "array", "items": {"enum": ["a"]}, "minItems": 2}, ["a", "a"]),
        ({"properties": {"a": {"type": "object"}, "b": True}, "required": ["a"]}, {"a": {}}),
        ({"properties": {"a": True}}, {"a": "-"}),
        ({}, "-"),
    ],
)
def test_the_smallest_value_of_a_schema(schema: dict[str, Any], value: Any) -> None:
    found = minimal_instance(schema)
    assert found == value
    assert type(found) is type(value)
    assert fits(found, schema)


def test_schemas_without_an_end_have_one() -> None:
    endless = {"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}
    assert minimal_instance(endless)
    assert list(action_places({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]})) == []
    assert minimal_instance({"$ref": "#"}) == "-"
    assert minimal_instance({"$ref": "#/$defs/missing/part"}) == "-"


def test_an_exclusive_least_number() -> None:
    schema = {"type": "number", "exclusiveMinimum": 0.5}
    assert fits(minimal_instance(schema), schema)


def test_structured_actions_fit_their_schema(server: RunningServer) -> None:
    for arguments in ({"type": "object"}, {"type": "string"}):
        wanted = action_format(arguments)
        action = orjson.loads(said(server, OPENING, response_format=wanted))
        assert fits(action, wanted["json_schema"]["schema"])
        assert action["name"] == "light"
    variants = {"anyOf": [{"type": "null"}, wanted["json_schema"]["schema"]]}
    one_of = {"type": "json_schema", "json_schema": {"schema": variants}}
    assert orjson.loads(said(server, OPENING, response_format=one_of))["name"] == "light"
    free = said(server, OPENING, response_format={"type": "json_object"})
    assert orjson.loads(free) == {"name": "light", "arguments": {"lamp": "hall"}}


def test_only_what_was_done_rightly_counts(server: RunningServer) -> None:
    def call(name: str, arguments: str) -> list[dict[str, Any]]:
        function = {"name": name, "arguments": arguments}
        calls = [{"id": "c", "type": "function", "function": function}]
        answer = {"role": "tool", "tool_call_id": "c", "content": "Error"}
        return [{"role": "assistant", "content": None, "tool_calls": calls}, answer]

    def goes_on(*messages: dict[str, Any]) -> bool:
        return "tool_calls" not in ask(server, messages=[*OPENING, *messages]).message

    assert goes_on(*call("light", '{ "lamp": "hall" }'))
    assert not goes_on(*call("light_now", '{"lamp": "hall"}'))
    assert not goes_on(*call("light", '{"lamp": "hall"'))
    assert not goes_on(*call("light", '{"lamp": "attic"}'))
    assert not goes_on(*call("light", '["hall"]'))
    assert not goes_on({"role": "assistant", "tool_calls": [{}]})
    assert not goes_on({"role": "assistant", "content": "One moment."})
    assert goes_on(*call("light_now", "{}"), *call("light", '{"lamp": "hall"}'))


def test_an_agent_who_ends_by_handing_over(server: RunningServer) -> None:
    messages = [{"role": "user", "content": TASKS[2].instruction}]
    (call,) = ask(server, messages=messages).message["tool_calls"]
    assert call["function"]["name"] == "transfer_to_human_agents"


def test_an_agent_who_can_only_talk(server: RunningServer) -> None:
    messages = [{"role": "user", "content": INSTRUCTION}]
    assert said(server, messages) == "One moment, please."
    acting = [{"role": "system", "content": ACT}, *messages]
    assert said(server, acting) == 'Action:\n{"name": "light", "arguments": {"lamp":"hall"}}'
    assert ask(server, messages=messages, tool_choice="none").message["content"]
