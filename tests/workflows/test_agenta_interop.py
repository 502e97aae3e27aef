"""The current agenta SDK, for real: our client calls its app, and its client our server."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import anyio
import orjson
import pytest

from greenroom import chat_workflow
from greenroom.api import evaluate
from greenroom.api import run as greenroom_run
from greenroom.errors import InputError
from greenroom.workflows import Answer, Call, CallError, Event, Profile
from greenroom.workflows.call.discovery import discover
from greenroom.workflows.call.opening import call_workflow, open_target
from greenroom.workflows.serve import create_app, running_app
from tests.cli.running import Greenroom
from tests.conftest import ROOT
from tests.workflows.agenta_env import ENVIRONMENT, agenta_python, running_agenta

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

MESSAGES: list[dict[str, Any]] = [{"role": "user", "content": "hi"}]


@pytest.fixture(scope="session")
def agenta() -> Generator[str]:
    """The SDK's app, for as long as the tests run: its import takes many seconds."""
    with running_agenta() as address:
        yield address


def found(address: str) -> Profile:
    return anyio.run(discover, address)


def streamed(address: str, **inputs: Any) -> list[Event]:
    async def listen() -> list[Event]:
        target = await open_target(address)
        try:
            return [event async for event in target.stream(Call(inputs=inputs))]
        finally:
            await target.close()

    return anyio.run(listen)


# Its app, our evaluation --------------------------------------------------------------------------


def test_its_chat_app_is_evaluated_as_the_chat_that_it_declares_to_be(
    agenta: str, tmp_path: Path
) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("question,expected\nhi,echo (kind): hi\nho,something else\n")
    result = evaluate(agenta, rows, ["exact_match", "contains:values=assistant"])
    means = {one.alias: one.mean.value for one in result.figures.evaluators}
    # The text of its message is compared, not the message dumped as JSON.
    assert means == {"exact_match": 0.5, "contains": 0.0}
    assert result.figures.errors == 0


# Its app, our client ------------------------------------------------------------------------------


def test_its_chat_app_is_discovered_by_the_flag_that_it_declares(agenta: str) -> None:
    profile = found(agenta)
    assert (profile.name, profile.is_chat, profile.interface) == ("Echo", True, "invoke")
    assert profile.decided_by == "the flag request.flags.is_chat = true in /inspect"
    assert profile.parameters == {"tone": "kind"}


@pytest.mark.parametrize(
    ("path", "is_chat", "decided_by"),
    [
        ("not-chat", False, "the flag request.flags.is_chat = false in /inspect"),
        ("undeclared", True, "the schema of the inputs, which marks messages as a message history"),
        ("completion", False, "default: there is no flag, and the inputs have no list of messages"),
    ],
)
def test_what_decides_for_its_other_workflows(
    agenta: str, path: str, is_chat: bool, decided_by: str
) -> None:
    profile = found(f"{agenta}/{path}")
    assert (profile.is_chat, profile.decided_by) == (is_chat, decided_by)


def test_its_chat_app_is_called(agenta: str) -> None:
    answer = call_workflow(agenta, messages="hi", session_id="s1")
    assert answer.outputs == {"role": "assistant", "content": "echo (kind): hi"}
    assert answer.session_id == "s1"
    assert answer.trace_id is not None
    other = call_workflow(agenta, messages="hi", parameters={"tone": "warm"})
    assert other.outputs["content"] == "echo (warm): hi"
    # Parameters that it does not have do not drive its defaults away.
    more = call_workflow(agenta, messages="hi", parameters={"other": 1})
    assert more.outputs["content"] == "echo (kind): hi"


@pytest.mark.parametrize(
    ("path", "given", "outputs"),
    [
        ("not-chat", {"messages": MESSAGES}, "1 messages"),
        (
            "undeclared",
            {"messages": MESSAGES},
            {"messages": [{"role": "assistant", "content": "1 messages"}]},
        ),
        ("completion", {"country": "France"}, "the capital of France"),
        ("pieces", {"messages": MESSAGES}, "You said hi"),
    ],
)
def test_outputs_of_every_shape_come_back_unchanged(
    agenta: str, path: str, given: dict[str, Any], outputs: Any
) -> None:
    assert call_workflow(f"{agenta}/{path}", inputs=given).outputs == outputs
    assert streamed(f"{agenta}/{path}", **given)[-1].data.outputs == outputs


def test_its_stream_of_events(agenta: str) -> None:
    events = streamed(f"{agenta}/events", messages=MESSAGES)
    assert [event.kind for event in events] == [
        *("tool_call", "tool_result", "delta", "delta", "delta", "message", "usage", "end"),
    ]
    assert "".join(event.text for event in events) == "You said hi"
    answer: Answer = events[-1].data
    assert answer.outputs[-1] == {"role": "assistant", "content": "You said hi"}
    assert answer.outputs[0]["tool_calls"][0]["function"]["name"] == "look_up"
    assert (answer.prompt_tokens, answer.completion_tokens, answer.cost) == (3, 2, 0.25)
    # It cannot answer at once, and need not be asked to.
    whole = call_workflow(f"{agenta}/events", messages="hi")
    assert whole.outputs == answer.outputs


def test_its_app_gets_tools_where_its_schema_declares_them(agenta: str) -> None:
    tool: dict[str, Any] = {"type": "function", "function": {"name": "look_up", "parameters": {}}}

    async def asked() -> Any:
        target = await open_target(f"{agenta}/tools")
        try:
            return (await target.call(Call(inputs={"messages": MESSAGES}, tools=[tool]))).outputs
        finally:
            await target.close()

    assert found(f"{agenta}/tools").takes_tools is True
    assert anyio.run(asked) == {"role": "assistant", "content": "look_up"}
    assert found(agenta).takes_tools is False
    with pytest.raises(InputError, match="declares no input 'tools'"):
        greenroom_run("retail", agent="workflow", agent_options={"workflow": agenta}, tasks=[0])


def test_a_workflow_is_run_once_whichever_way_it_is_called(agenta: str) -> None:
    before = call_workflow(f"{agenta}/runs").outputs
    call_workflow(f"{agenta}/counted", messages="hi")
    streamed(f"{agenta}/counted", messages=MESSAGES)
    assert call_workflow(f"{agenta}/runs").outputs == before + 2


def test_its_failures_are_told_in_its_words(agenta: str) -> None:
    for attempt in (
        lambda: call_workflow(f"{agenta}/failing", messages="hi"),
        lambda: streamed(f"{agenta}/failing", messages=MESSAGES),
    ):
        with pytest.raises(CallError, match="answered 500: no answer to 1 messages") as caught:
            attempt()
        assert caught.value.status == 500
        assert caught.value.kind.endswith("unknown-workflow-invoke-error")
    with pytest.raises(CallError, match=r"answered 500: .*NoneType"):
        call_workflow(agenta, inputs={"no": "messages"})


def test_the_commands_understand_its_app(agenta: str, greenroom: Greenroom) -> None:
    facts = greenroom("inspect", agenta, "--json").json
    assert (facts["name"], facts["is_chat"]) == ("Echo", True)
    done = subprocess.run(["sh", "-c", facts["try"][0]], capture_output=True, check=True)
    assert orjson.loads(done.stdout)["data"]["outputs"]["content"] == "echo (kind): Hello"
    assert greenroom("chat", agenta, "-m", "hi", "-m", "bye").out == (
        "echo (kind): hi\necho (kind): bye\n"
    )
    said = greenroom("chat", f"{agenta}/events", "-m", "hi")
    assert (said.out, said.err) == ("You said hi\n", '→ look_up {"id": 7}\n← found\n')


# Our server, its client ---------------------------------------------------------------------------


@chat_workflow(parameters={"tone": "kind"})
def echo(
    messages: list[dict[str, Any]], parameters: dict[str, Any], customer: str = "you"
) -> dict[str, Any]:
    """Says the last message again."""
    text = f"{parameters['tone']}: {messages[-1]['content']}, {customer}"
    return {"role": "assistant", "content": text}


@pytest.fixture
def called_by_agenta() -> Generator[Callable[..., Any]]:
    """The SDK's remote workflow calls our server: what it makes of the answer."""
    with running_app(create_app(echo)) as address:

        def call(inputs: dict[str, Any], parameters: dict[str, Any]) -> Any:
            script = str(ROOT / "tests/workflows/agenta_call.py")
            given = [orjson.dumps(inputs).decode(), orjson.dumps(parameters).decode()]
            done = subprocess.run(
                agenta_python(script, address, *given),
                env=os.environ | ENVIRONMENT,
                capture_output=True,
                text=True,
                check=True,
            )
            return orjson.loads(done.stdout.splitlines()[-1])

        yield call


def test_its_remote_client_calls_our_server(called_by_agenta: Callable[..., Any]) -> None:
    answer = called_by_agenta({"messages": MESSAGES, "customer": "Bob"}, {"tone": "warm"})
    # It does not open envelopes: the bare output has to arrive.
    assert answer["data"]["outputs"] == {"role": "assistant", "content": "warm: hi, Bob"}
    assert answer["status"]["code"] == 200
