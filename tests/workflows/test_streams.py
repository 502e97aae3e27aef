"""Streamed answers of every dialect, cut wherever a network may cut them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anyio
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.workflows import CallError, Event, WorkflowUnavailable
from greenroom.workflows.call.streams import Frame, StreamedAnswer, read_frames
from tests.workflows.stub_workflow import sse

SSE = "text/event-stream"
NDJSON = "application/x-ndjson"


def frames(content: bytes, content_type: str = SSE, cuts: list[int] | None = None) -> list[Frame]:
    places = sorted({min(cut, len(content)) for cut in cuts or []})
    chunks = [
        content[start:end] for start, end in zip([0, *places], [*places, len(content)], strict=True)
    ]

    async def chunked() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    async def read() -> list[Frame]:
        return [frame async for frame in read_frames(chunked(), content_type)]

    return anyio.run(read)


def heard(*values: Any, names: tuple[str, ...] = ()) -> tuple[list[Event], StreamedAnswer]:
    """The events of frames that hold these values, and the answer."""
    answer = StreamedAnswer()
    events: list[Event] = []
    for number, value in enumerate(values):
        text = value if isinstance(value, str) else orjson.dumps(value).decode()
        name = names[number] if number < len(names) else ""
        events += answer.take(Frame(text, name))
    events += answer.close()
    return events, answer


def kinds(events: list[Event]) -> list[str]:
    return [event.kind for event in events]


# Frames ---------------------------------------------------------------------------------------


def test_a_server_sent_event_has_a_name_and_lines_of_data() -> None:
    content = b": hello\r\nevent: word\r\nid: 7\r\ndata: one\r\ndata:two\r\n\r\n\r\ndata: three\n\n"
    assert frames(content) == [Frame("one\ntwo", "word"), Frame("three")]


def test_an_event_without_its_last_line_counts_and_one_without_data_does_not() -> None:
    assert frames(b"event: nothing\n\ndata: last") == [Frame("last")]
    assert frames(b"\xef\xbb\xbfdata: marked\n\n") == [Frame("marked")]


def test_lines_of_json() -> None:
    assert frames(b'"a"\n\n{"b": 1}\r\n"c"', NDJSON) == [
        Frame('"a"'),
        Frame('{"b": 1}'),
        Frame('"c"'),
    ]


@given(
    texts=st.lists(st.text(min_size=1), max_size=5),
    cuts=st.lists(st.integers(0, 200), max_size=20),
    ndjson=st.booleans(),
)
def test_frames_do_not_depend_on_where_the_network_cuts(
    texts: list[str], cuts: list[int], ndjson: bool
) -> None:
    if ndjson:
        content, kind = b"".join(orjson.dumps(text) + b"\n" for text in texts), NDJSON
    else:
        content, kind = sse(*texts), SSE
    whole = frames(content, kind)
    assert [orjson.loads(frame.data) for frame in whole] == texts
    assert frames(content, kind, cuts) == whole


# Agenta ---------------------------------------------------------------------------------------


def agenta(kind: str, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data}


def test_agentas_events() -> None:
    events, answer = heard(
        agenta("thought_delta", id="r1", delta="hm"),
        agenta("tool_call", id="c1", name="look_up", input={"id": 7}),
        agenta("tool_result", id="c1", output={"found": True}),
        agenta("message_start", id="m1"),
        agenta("message_delta", id="m1", delta="Hel"),
        agenta("message_delta", id="m1", delta="lo"),
        agenta("message_end", id="m1"),
        agenta("usage", input=3, output=2, total=5, cost=0.25),
        agenta("done", stopReason="stop"),
    )
    assert kinds(events) == [
        *("tool_call", "tool_result", "delta", "delta", "message", "usage"),
    ]
    assert events[0].data == {"id": "c1", "name": "look_up", "input": {"id": 7}}
    assert events[1].data == {"id": "c1", "output": {"found": True}, "isError": False}
    called, result, said = answer.outputs
    assert called["tool_calls"][0]["function"] == {"name": "look_up", "arguments": '{"id":7}'}
    assert called["content"] is None
    assert result == {"role": "tool", "tool_call_id": "c1", "content": '{"found":true}'}
    assert said == {"role": "assistant", "content": "Hello"}
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (3, 2)
    assert answer.usage.cost == 0.25


def test_an_agentas_call_whose_arguments_come_later_is_told_once() -> None:
    events, answer = heard(
        agenta("tool_call", id="c1", name="look_up", input={}),
        agenta("tool_call", id="c1", name="look_up", rawInput={"id": 7}),
    )
    assert kinds(events) == ["tool_call"]
    assert answer.outputs["tool_calls"][0]["function"]["arguments"] == '{"id":7}'


def test_names_of_server_sent_events_count_like_types() -> None:
    events, answer = heard(
        {"id": "m1", "delta": "Hi"}, {"id": "m1"}, names=("message_delta", "message_end")
    )
    assert kinds(events) == ["delta", "message"]
    assert answer.outputs == {"role": "assistant", "content": "Hi"}


def test_a_message_that_is_told_as_a_whole_takes_the_place_of_its_pieces() -> None:
    whole = {"role": "assistant", "content": "Hi", "name": "bot"}
    _, answer = heard(agenta("message_delta", delta="Hi"), agenta("message_end", message=whole))
    assert answer.outputs == whole
    _, answer = heard(agenta("message", text="Hi"))
    assert answer.outputs == {"role": "assistant", "content": "Hi"}
    _, answer = heard(agenta("message", **whole))
    assert answer.outputs == whole


def test_calls_that_stand_in_a_whole_message_are_not_made_into_another_one() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
    whole = {"role": "assistant", "content": "Let me see.", "tool_calls": [call]}
    events, answer = heard(
        agenta("message_delta", delta="Let me see."),
        agenta("message_end", message=whole),
        agenta("tool_call", id="c1", name="look_up", input={}),
        agenta("tool_result", id="c1", output="nothing"),
    )
    assert kinds(events) == ["delta", "message", "tool_call", "tool_result"]
    assert answer.outputs == [
        whole,
        {"role": "tool", "tool_call_id": "c1", "content": "nothing"},
    ]


def test_what_does_not_chat_writes_text_and_values() -> None:
    answer = StreamedAnswer(is_chat=False)
    frames = [
        agenta("message_delta", delta="4"),
        agenta("message_delta", delta="2"),
        agenta("message_end"),
    ]
    events = [e for one in frames for e in answer.take(Frame(orjson.dumps(one).decode()))]
    assert (kinds([*events, *answer.close()]), answer.outputs) == (["delta", "delta"], "42")
    _, answer = heard(agenta("data", name="output", data={"row": 1}), agenta("data", name="x"))
    assert answer.outputs == {"row": 1}


def test_outputs_that_are_told_in_the_end_count() -> None:
    _, answer = heard(
        agenta("message_delta", delta="42"),
        agenta("done", outputs={"answer": 42}, usage={"prompt_tokens": 1}, session_id="s"),
    )
    assert answer.outputs == {"answer": 42}
    assert (answer.usage.prompt_tokens, answer.session_id) == (1, "s")


def test_a_failure_within_a_stream_is_raised_in_words() -> None:
    with pytest.raises(CallError, match="out of paper") as caught:
        heard(agenta("message_delta", delta="He"), agenta("error", message="out of paper"))
    assert not isinstance(caught.value, WorkflowUnavailable)
    with pytest.raises(CallError, match="out of ink"):
        heard({"type": "error", "errorText": "out of ink"})
    with pytest.raises(CallError, match="too long") as caught:
        heard({"error": {"message": "too long", "type": "server_error"}})
    assert caught.value.kind == "server_error"


# Vercel ---------------------------------------------------------------------------------------

VERCEL: list[dict[str, Any]] = [
    {"type": "start", "messageId": "m", "messageMetadata": {"sessionId": "s1"}},
    {"type": "start-step"},
    {"type": "reasoning-delta", "id": "r", "delta": "hm"},
    {"type": "tool-input-start", "toolCallId": "c1", "toolName": "look_up"},
    {"type": "tool-input-available", "toolCallId": "c1", "toolName": "look_up", "input": {"id": 7}},
    {"type": "tool-output-error", "toolCallId": "c1", "errorText": "no such id"},
    {"type": "text-start", "id": "t"},
    {"type": "text-delta", "id": "t", "delta": "Sor"},
    {"type": "text-delta", "id": "t", "delta": "ry"},
    {"type": "text-end", "id": "t"},
    {"type": "data-weather", "data": {"sunny": True}},
    {"type": "finish-step"},
    {
        "type": "finish",
        "messageMetadata": {"usage": {"input": 3, "output": 2}, "traceId": "f00"},
    },
]


def test_vercels_stream() -> None:
    events, answer = heard(*VERCEL, "[DONE]")
    assert kinds(events) == [
        *("tool_call", "tool_result", "delta", "delta", "message", "usage"),
    ]
    assert events[1].data == {"id": "c1", "output": "no such id", "isError": True}
    assert answer.outputs[-1] == {"role": "assistant", "content": "Sorry"}
    assert (answer.session_id, answer.trace_id) == ("s1", "f00")
    assert answer.usage.completion_tokens == 2


def test_a_stream_of_vercels_that_breaks_off_is_no_answer() -> None:
    with pytest.raises(WorkflowUnavailable, match="broke off"):
        heard(*VERCEL[:8])


# OpenAI ---------------------------------------------------------------------------------------


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"object": "chat.completion.chunk", "choices": [choice]}


def test_openais_chunks() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 2}
    events, answer = heard(
        chunk(role="assistant", content=""),
        chunk(content="Hel"),
        chunk(content="lo"),
        chunk("stop"),
        {"object": "chat.completion.chunk", "choices": [], "usage": usage},
        "[DONE]",
    )
    assert kinds(events) == ["delta", "delta", "message", "usage"]
    assert answer.outputs == {"role": "assistant", "content": "Hello"}
    assert answer.usage.prompt_tokens == 9


def test_openais_tool_calls_come_in_pieces() -> None:
    def piece(index: int, **fields: Any) -> dict[str, Any]:
        return chunk(tool_calls=[{"index": index, **fields}])

    events, answer = heard(
        chunk(role="assistant", content=None),
        piece(0, id="a", type="function", function={"name": "add", "arguments": ""}),
        piece(0, function={"arguments": '{"x":'}),
        piece(0, function={"arguments": "1}"}),
        piece(1, id="b", type="function", function={"name": "stop", "arguments": "{}"}),
        chunk("tool_calls"),
        "[DONE]",
    )
    assert kinds(events) == ["tool_call", "tool_call"]
    assert events[0].data == {"id": "a", "name": "add", "input": {"x": 1}}
    first, second = answer.outputs["tool_calls"]
    assert first == {
        "id": "a",
        "type": "function",
        "function": {"name": "add", "arguments": '{"x":1}'},
    }
    assert second["function"]["name"] == "stop"
    assert answer.outputs["content"] is None


def test_arguments_that_are_no_json_are_passed_on_as_text() -> None:
    call = {"index": 0, "id": "a", "function": {"name": "add", "arguments": "{x"}}
    events, answer = heard(chunk(tool_calls=[call]), chunk("tool_calls"), "[DONE]")
    assert events[0].data["input"] == "{x"
    assert answer.outputs["tool_calls"][0]["function"]["arguments"] == "{x"


def test_a_refusal_of_openais_is_kept() -> None:
    _, answer = heard(chunk(role="assistant", refusal="I "), chunk(refusal="won't"), chunk("stop"))
    assert answer.outputs == {"role": "assistant", "content": None, "refusal": "I won't"}


def test_an_openai_stream_that_breaks_off_is_no_answer() -> None:
    with pytest.raises(WorkflowUnavailable, match="broke off"):
        heard(chunk(content="Hel"))


# Bare values ----------------------------------------------------------------------------------


def test_text_that_a_generator_yields() -> None:
    events, answer = heard('"You "', '"said hi"')
    assert [event.text for event in events] == ["You ", "said hi"]
    assert answer.outputs == "You said hi"


def test_text_that_is_framed_without_quotes() -> None:
    _, answer = heard("You said", " hi")
    assert answer.outputs == "You said hi"


def test_values_and_messages_that_a_generator_yields() -> None:
    message = {"role": "assistant", "content": "Hi"}
    events, answer = heard(message)
    assert (kinds(events), answer.outputs) == (["message"], message)
    assert heard(message, message)[1].outputs == [message, message]
    assert heard({"row": 1}, {"row": 2})[1].outputs == [{"row": 1}, {"row": 2}]
    assert heard({"type": "invoice", "total": 3})[1].outputs == {"type": "invoice", "total": 3}
    assert heard()[1].outputs is None


def test_half_a_value_is_an_error_and_not_text() -> None:
    with pytest.raises(WorkflowUnavailable, match="not JSON"):
        heard('{"type": "message_del')
