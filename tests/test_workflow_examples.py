"""The examples of wrapped frameworks: each is loaded, called, streamed, served and benchmarked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import anyio
import pytest

from greenroom.domains.domain import Domain
from greenroom.model_server import running_server
from greenroom.workflows import (
    Answer,
    Call,
    CallError,
    Event,
    LocalTarget,
    Workflow,
    load_workflows,
)
from tests.agents.fastworkflow_probe import END, PLAN, command, use
from tests.chat_server import ChatServer, OutOfOrder, running_chat_server, tool_call
from tests.conftest import ROOT
from tests.fastworkflow_example import RESULT
from tests.test_docs import blocks
from tests.workflows.serving import serving, told

EXAMPLES = ROOT / "examples/workflows"
NEEDS = {
    "plain_litellm": "litellm",
    "langgraph_agent": "langgraph",
    "pydantic_ai_agent": "pydantic_ai",
    "openai_agents_agent": "agents",
}
EACH = [
    # litellm takes seconds to import. What is ignored is what pydantic says to it: of one of its
    # types, and of how it looks at its own answers.
    pytest.param(
        "plain_litellm",
        marks=[
            pytest.mark.slow,
            pytest.mark.filterwarnings("ignore:Item .* on TypedDict class:UserWarning"),
            pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning"),
        ],
    ),
    "langgraph_agent",
    "openai_agents_agent",
    "pydantic_ai_agent",
]
WITH_OWN_TOOL = ["langgraph_agent", "openai_agents_agent", "pydantic_ai_agent"]
STATUS = "Order W1 is on its way and arrives on Friday."
REFUND = {
    "type": "function",
    "function": {
        "name": "refund",
        "description": "Pay back.",
        "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}},
    },
}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def shop(body: dict[str, Any]) -> dict[str, Any]:
    """The model: it calls a tool when it hears of one's subject, and tells what came of it."""
    last = body["messages"][-1]
    if last["role"] == "tool":
        return {"content": f"I looked: {last['content']}"}
    for subject, name in (("order", "order_status"), ("money", "refund")):
        if subject in last["content"]:
            return tool_call(name, order_id="W1")
    heard = [one["content"] for one in body["messages"] if one["role"] == "user"]
    return {"content": f"I heard: {', '.join(heard)}"}


@pytest.fixture(autouse=True)
def own_path(monkeypatch: pytest.MonkeyPatch) -> None:
    # Loading a file makes its neighbours importable.
    monkeypatch.setattr(sys, "path", [*sys.path])


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Generator[ChatServer]:
    with running_chat_server(shop) as server:
        reach(server.api_base, monkeypatch)
        yield server


def reach(api_base: str, monkeypatch: pytest.MonkeyPatch, model: str = "scripted") -> None:
    """Let an example that is loaded from now on find a model there."""
    monkeypatch.setenv("OPENAI_BASE_URL", api_base)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-nobody")
    monkeypatch.setenv("MODEL", model)
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    # litellm keeps the sessions of its other client, which complain when they are left behind.
    monkeypatch.setenv("DISABLE_AIOHTTP_TRANSPORT", "True")
    # It would send traces to OpenAI.
    monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")


def load(name: str, monkeypatch: pytest.MonkeyPatch) -> Workflow:
    pytest.importorskip(NEEDS.get(name, "greenroom"))
    if name == "plain_litellm":  # it wants to know the provider
        monkeypatch.setenv("MODEL", f"openai/{os.environ['MODEL']}")
    (workflow,) = load_workflows(str(EXAMPLES / f"{name}.py"))
    assert workflow.is_chat
    return workflow


def streamed(workflow: Workflow, *messages: dict[str, Any], **fields: Any) -> list[Event]:
    async def listen() -> list[Event]:
        call = Call(inputs={"messages": list(messages)}, **fields)
        async with aclosing(LocalTarget(workflow).stream(call)) as events:
            return [event async for event in events]

    return anyio.run(listen)


def called(workflow: Workflow, *messages: dict[str, Any], **fields: Any) -> Answer:
    async def ask() -> Answer:
        call = Call(inputs={"messages": list(messages)}, **fields)
        return await LocalTarget(workflow).call(call)

    return anyio.run(ask)


def text(events: list[Event]) -> list[str]:
    return [event.text for event in events if event.kind == "delta"]


def calls(message: dict[str, Any]) -> list[tuple[str, Any]]:
    made: list[dict[str, str]] = [one["function"] for one in message["tool_calls"]]
    return [(one["name"], json.loads(one["arguments"])) for one in made]


def greenroom(*arguments: str | Path) -> Any:
    """A command in a process of its own: frameworks keep connections for as long as it runs."""
    program = "from greenroom.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments, "--json"],
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def test_the_echo_streams_its_words_and_counts_the_history(monkeypatch: pytest.MonkeyPatch):
    echo = load("echo", monkeypatch)
    earlier = [user("hello"), assistant("You said: hello (1)")]
    events = streamed(echo, *earlier, user("two words"))
    assert text(events) == ["You said: ", "two ", "words ", "(2)"]
    answer = called(echo, user("hello"))
    assert answer.outputs == assistant("You said: hello (1)")
    with serving(echo) as server:
        body = {"messages": [user("hello")], "inputs": {"greeting": "I heard"}}
        assert told(server, body) == assistant("I heard: hello (1)")
        assert told(server, {}, "/inspect")["flags"] == {"is_chat": True}


@pytest.mark.slow
@pytest.mark.parametrize("name", EACH)
def test_words_are_streamed_and_the_history_goes_along(
    name: str, model: ChatServer, monkeypatch: pytest.MonkeyPatch
):
    workflow = load(name, monkeypatch)
    earlier = [user("hello"), assistant("Good day.")]
    events = streamed(workflow, *earlier, user("are you there?"))
    words = "I heard: hello, are you there?"
    assert len(text(events)) > 3, "it came in pieces"
    assert "".join(text(events)) == words
    answer = events[-1].data
    assert answer.outputs == assistant(words)
    assert (answer.prompt_tokens, answer.completion_tokens) == (100, 10)
    asked = [one for one in model.asked[0]["messages"] if one["role"] != "system"]
    assert [(one["role"], one["content"]) for one in asked] == [
        ("user", "hello"),
        ("assistant", "Good day."),
        ("user", "are you there?"),
    ]
    assert called(workflow, *earlier, user("are you there?")).outputs == answer.outputs


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_OWN_TOOL)
def test_pictures_reach_the_model(name: str, model: ChatServer, monkeypatch: pytest.MonkeyPatch):
    model.answering = lambda _: {"content": "A red dot."}
    workflow = load(name, monkeypatch)
    url = "data:image/png;base64,iVBORw0KGgo="
    picture = {"type": "image_url", "image_url": {"url": url}}
    shown = {"role": "user", "content": [{"type": "text", "text": "Look:"}, picture]}
    assert called(workflow, shown).outputs == assistant("A red dot.")
    words, seen = model.asked[0]["messages"][-1]["content"]
    assert (words["text"], seen["image_url"]["url"]) == ("Look:", url)
    # It is there in what was said before, too.
    called(workflow, shown, assistant("A red dot."), user("Really?"))
    assert model.asked[1]["messages"][-3]["content"] == [words, seen]

    strange = {"role": "user", "content": [{"type": "hologram"}]}
    if name != "langgraph_agent":  # LangChain hands on what it does not know
        with pytest.raises(CallError, match="cannot be told a part of type 'hologram'"):
            called(workflow, strange)


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_OWN_TOOL)
def test_its_own_tool_is_run_and_told_in_the_answer(
    name: str, model: ChatServer, monkeypatch: pytest.MonkeyPatch
):
    workflow = load(name, monkeypatch)
    answer = called(workflow, user("my order?"))
    asking, result, said = answer.outputs
    assert calls(asking) == [("order_status", {"order_id": "W1"})]
    assert result["role"] == "tool"
    assert result["tool_call_id"] == asking["tool_calls"][0]["id"]
    assert result["content"] == STATUS
    assert said == assistant(f"I looked: {STATUS}")
    assert (answer.prompt_tokens, answer.completion_tokens) == (200, 20), "of both questions"
    assert len(model.asked) == 2
    # With the next call, the model sees what the tool told it before.
    called(workflow, user("my order?"), *answer.outputs, user("thank you"))
    roles = [one["role"] for one in model.asked[2]["messages"] if one["role"] != "system"]
    assert roles == ["user", "assistant", "tool", "assistant", "user"]
    assert calls(model.asked[2]["messages"][-4]) == [("order_status", {"order_id": "W1"})]


@pytest.mark.slow
@pytest.mark.parametrize("name", EACH)
def test_the_callers_tools_are_left_to_the_caller(
    name: str, model: ChatServer, monkeypatch: pytest.MonkeyPatch
):
    workflow = load(name, monkeypatch)
    asking = called(workflow, user("my money!"), tools=[REFUND]).outputs
    assert asking["role"] == "assistant"
    assert calls(asking) == [("refund", {"order_id": "W1"})]
    (offered,) = (one for one in model.asked[0]["tools"] if one["function"]["name"] == "refund")
    assert offered["function"]["description"] == "Pay back."
    assert offered["function"]["parameters"]["properties"] == {"order_id": {"type": "string"}}
    result = {
        "role": "tool",
        "tool_call_id": asking["tool_calls"][0]["id"],
        "content": "It is paid.",
    }
    said = called(workflow, user("my money!"), asking, result, tools=[REFUND]).outputs
    assert said == assistant("I looked: It is paid."), "nothing is told that the caller knows"


@pytest.mark.slow
@pytest.mark.parametrize("name", EACH)
def test_it_is_served(name: str, model: ChatServer, monkeypatch: pytest.MonkeyPatch):
    with serving(load(name, monkeypatch)) as server:
        assert told(server, {}, "/inspect")["flags"] == {"is_chat": True}
        asked = {"messages": [user("hello")]}
        assert told(server, asked) == assistant("I heard: hello")
        events = server.post("/invoke", asked, accept="text/event-stream").events
        completion = told(server, asked, "/v1/chat/completions")
    deltas = [one["data"]["delta"] for one in events if one["type"] == "message_delta"]
    assert deltas == ["I", " heard:", " hello"]
    assert events[-1]["data"]["outputs"] == assistant("I heard: hello")
    assert completion["choices"][0]["message"]["content"] == "I heard: hello"
    assert completion["usage"]["prompt_tokens"] == 100
    assert len(model.asked) == 3


@pytest.mark.slow
@pytest.mark.parametrize("name", EACH)
def test_a_model_that_fails_is_told_without_the_key(name: str, monkeypatch: pytest.MonkeyPatch):
    def broken(body: dict[str, Any]) -> dict[str, Any]:
        raise OutOfOrder("The till is stuck.")

    with running_chat_server(broken) as server:
        reach(server.api_base, monkeypatch)
        with serving(load(name, monkeypatch)) as served:
            reply = served.post("/invoke", {"messages": [user("hello")]})
    assert reply.status == 500
    assert "The till is stuck." in reply.json["status"]["message"]
    assert "sk-of-nobody" not in reply.text


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_workflow_is_benchmarked_with_the_tools_of_a_domain(
    retail: Domain, monkeypatch: pytest.MonkeyPatch
):
    pytest.importorskip("litellm")
    with running_server(retail) as server:
        reach(server.api_base, monkeypatch, "openai/oracle")
        report = greenroom(
            *("run", "--workflow", EXAMPLES / "plain_litellm.py", "--task-ids", "1", "2", "3")
        )
    assert report["metrics"]["outcomes"] == {"success": 3}


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_an_agent_of_a_framework_is_benchmarked_with_the_model_of_the_run(
    retail: Domain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    reach("http://127.0.0.1:9/v1", monkeypatch)  # nobody is there: its own model is not asked
    monkeypatch.chdir(tmp_path)
    with running_server(retail) as server:
        report = greenroom(
            *("run", "--agent-strategy", EXAMPLES / "openai_agents_agent.py"),
            *("--model", "oracle", "--api-base", server.api_base, "--task-ids", "1", "2", "3"),
        )
    assert report["metrics"]["outcomes"] == {"success": 3}


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_it_is_evaluated_with_the_tools_that_it_called(model: ChatServer, tmp_path: Path):
    pytest.importorskip("pydantic_ai")
    rows = tmp_path / "orders.jsonl"
    looked_up = [{"name": "order_status", "arguments": {"order_id": "W1"}}]
    rows.write_text(json.dumps({"question": "my order?", "expected": looked_up}) + "\n")
    report = greenroom(
        *("eval", EXAMPLES / "pydantic_ai_agent.py", rows, "--evaluator", "tool_calls"),
        *("--evaluator", "contains:values=Friday", "--repeats", "2"),
    )
    means = {one["name"]: one["mean"]["value"] for one in report["figures"]["evaluators"]}
    assert means == {"tool_calls": 1, "contains": 1}
    assert len(model.asked) == 4


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_fastworkflow_workflow_runs_its_own_commands(tmp_path: Path):
    pytest.importorskip("fastworkflow")
    add = command("add_two_numbers <first_num>2</first_num> <second_num>3</second_num>")
    turn, doubt = [PLAN, add, *END], use("ask_user", clarification_request="Which numbers?")
    # As the scenes of fastworkflow_example.py come; an answer to a question is planned for anew.
    replies = iter([*turn, PLAN, doubt, *turn, *turn, *turn])

    with running_chat_server(lambda body: {"content": next(replies)}) as server:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "tests.fastworkflow_example"),
                *(str(EXAMPLES / "fastworkflow_agent.py"), str(tmp_path)),
            ],
            cwd=ROOT,
            env={**os.environ, "OPENAI_BASE_URL": server.api_base, "OPENAI_API_KEY": "any"},
            capture_output=True,
            text=True,
            timeout=170,
            check=False,
        )
    assert done.returncode == 0, done.stderr[-2000:]
    (line,) = (line for line in done.stdout.splitlines() if line.startswith(RESULT))
    found = json.loads(line.removeprefix(RESULT))
    assert next(replies, None) is None, "every reply was needed"
    assert found["kinds"] == ["message", "message", "message", "end"]
    for outputs in (found["sure"]["outputs"], found["later"]["outputs"], found["served"]):
        asking, result, said = outputs
        assert calls(asking) == [("add_two_numbers", {"first_num": 2.0, "second_num": 3.0})]
        assert result["tool_call_id"] == asking["tool_calls"][0]["id"]
        assert "5.0" in result["content"]
        assert said == assistant("All is done.")
    assert found["doubting"]["outputs"] == assistant("Which numbers?")
    assert found["later"]["tokens"] == [500, 50]
    assert found["inspected"] == {"is_chat": True}
    # Session b went on where it was; a call without a session is told what was said before.
    prompts = [one["messages"][-1]["content"] for one in server.asked]
    assert "Add them." in prompts[7]
    assert "user: What is 1 and 1?\nassistant: Two." in prompts[12]


def test_the_page_shows_the_examples_as_they_are():
    page = blocks(ROOT / "docs/wrapping.md")
    shown = {block.file: block.text for block in page if block.language == "python"}
    assert shown.keys() == {"echo.py", "plain_litellm.py"}
    for name, code in shown.items():
        assert code == (EXAMPLES / str(name)).read_text(encoding="utf-8"), name
    every_code = [file.read_text(encoding="utf-8") for file in EXAMPLES.glob("*.py")]
    parts = [block.text for block in page if block.language == "py"]
    assert parts
    for part in parts:
        assert any(part in code for code in every_code), part
