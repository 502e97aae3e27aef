"""Responses and their events, read by the types of OpenAI's own client."""

from __future__ import annotations

from typing import Any

from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from greenroom.responses_wire import ResponseStream, event_bytes, read_request, response_object

REQUEST = read_request(
    {
        "input": "hello",
        "temperature": 0.5,
        "metadata": {"a": "b"},
        "tools": [{"type": "function", "name": "look", "parameters": {"type": "object"}}],
    }
)
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"a":1}'}}
EVENTS: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)


def kinds(events: list[Any]) -> list[str]:
    return [event["type"] for event in events]


def test_a_message_with_calls_is_a_response() -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "cost": 0.1}
    message = {"role": "assistant", "content": "I look.", "tool_calls": [CALL]}
    found = response_object(REQUEST, "echo", message, usage)
    response = Response.model_validate(found)
    assert response.status == "completed"
    assert response.output_text == "I look."
    text, call = response.output
    assert text.type == "message"
    assert call.type == "function_call"
    assert (call.call_id, call.name, call.arguments) == ("c1", "look", '{"a":1}')
    assert response.usage is not None
    assert (response.usage.input_tokens, response.usage.total_tokens) == (5, 7)
    assert (response.temperature, response.metadata) == (0.5, {"a": "b"})
    assert response.tools[0].type == "function"
    assert found["usage"]["cost"] == 0.1


def test_an_answer_without_words_is_an_empty_message() -> None:
    response = Response.model_validate(response_object(REQUEST, "m", {"role": "assistant"}))
    assert response.output_text == ""
    assert response.usage is None


def test_a_cut_answer_is_incomplete() -> None:
    message = {"role": "assistant", "content": "Once"}
    found = response_object(REQUEST, "m", message, finish_reason="length")
    assert found["status"] == "incomplete"
    assert found["incomplete_details"] == {"reason": "max_output_tokens"}


def test_the_events_of_a_stream_are_typed_and_numbered() -> None:
    stream = ResponseStream(REQUEST, "echo")
    events = [*stream.begin(), *stream.say("I "), *stream.say("look.")]
    events += [*stream.call("c1", "look", '{"a"'), *stream.more_arguments(":1}")]
    events += stream.end({"prompt_tokens": 1, "completion_tokens": 2})
    assert kinds(events) == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.output_item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert [EVENTS.validate_python(event).type for event in events] == kinds(events)
    assert events[-1]["response"]["output"][1]["arguments"] == '{"a":1}'
    assert events[0]["response"]["output"] == []


def test_a_stream_that_fails_says_why_and_ends() -> None:
    stream = ResponseStream(REQUEST, "echo")
    events = [*stream.begin(), *stream.say("Well"), *stream.fail("no such order")]
    assert kinds(events)[-2:] == ["error", "response.failed"]
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert events[-2]["message"] == "no such order"
    response = Response.model_validate(events[-1]["response"])
    assert response.status == "failed"
    assert response.error is not None
    assert response.output[0].status == "incomplete"  # type: ignore[union-attr]


def test_an_event_names_its_type_on_the_wire() -> None:
    assert event_bytes({"type": "error", "code": None}) == (
        b'event: error\ndata: {"type":"error","code":null}\n\n'
    )
