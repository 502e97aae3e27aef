"""The environment as an MCP server, asked by the official client and by hostile ones."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Coroutine
from typing import Any

import anyio
import pytest
from starlette.types import ASGIApp

from greenroom.agents import Stage
from greenroom.agents.mcp_environment import POLICY_ADDRESS, McpEnvironment
from greenroom.agents.turns import Turns
from greenroom.domains.domain import Domain, load_domain
from greenroom.domains.environment import Environment
from greenroom.domains.tasks import Action
from greenroom.users import ScriptedUser
from greenroom.workflows.serve import running_app
from greenroom.workflows.serve.mcp_transport import mcp_app
from tests.agents.mcp_clients import HANDSHAKES, MODERN, connected, post, request, text_of
from tests.conftest import TAU2_DATA
from tests.domains.thermostats import thermostats

TASK = 5
MODES = ["auto", "legacy", MODERN]


class Episode:
    """An environment of a task, and its MCP server."""

    def __init__(self, domain: Domain, task: int = TASK, max_steps: int | None = None) -> None:
        self.environment = Environment(domain, ScriptedUser(), max_steps=max_steps)
        anyio.run(self.environment.reset, task)
        self.mcp = McpEnvironment(Stage(self.environment))
        self.app: ASGIApp = mcp_app(self.mcp.handle)

    @property
    def task(self) -> Any:
        return self.environment.task

    def run(self, play: Callable[[Any], Coroutine[Any, Any, Any]], mode: str = "auto") -> Any:
        """What comes of a play with a connected client."""

        async def running() -> Any:
            async with connected(self.app, mode) as client:
                return await play(client)

        return anyio.run(running)

    def post(self, body: Any, **options: Any) -> tuple[int, Any]:
        async def posted() -> tuple[int, Any]:
            return await post(self.app, body, **options)

        return anyio.run(posted)

    def call(self, name: str, arguments: Any = None) -> tuple[str, bool]:
        params: dict[str, Any] = {"name": name, "arguments": {} if arguments is None else arguments}
        status, answer = self.post(request("tools/call", params))
        assert status == 200
        result = answer["result"]
        return result["content"][0]["text"], result["isError"]


@pytest.fixture
def episode(retail: Domain) -> Episode:
    return Episode(retail)


DOMAINS: dict[str, Callable[[], Domain]] = {
    "retail": lambda: load_domain("retail"),
    "airline": lambda: load_domain("airline"),
    "thermostats": thermostats,
}
TAU2_DOMAINS = ["retail", "airline", "telecom", "banking_knowledge", "mock"]


def assert_lists_exactly_the_tools(domain: Domain, mode: str) -> None:
    listed = Episode(domain, 0).run(lambda client: client.list_tools(), mode)
    found = [
        {"name": one.name, "description": one.description, "parameters": one.input_schema}
        for one in listed.tools
    ]
    assert found == [info["function"] for info in domain.tool_infos]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", DOMAINS)
def test_the_tools_are_exactly_the_agents_with_the_domains_own_schemas(
    name: str, mode: str
) -> None:
    assert_lists_exactly_the_tools(DOMAINS[name](), mode)


@pytest.mark.tau2_data
@pytest.mark.slow
@pytest.mark.parametrize("name", TAU2_DOMAINS)
def test_the_tools_of_tau2s_domains_are_the_agents_alone(name: str) -> None:
    domain = load_domain(name, TAU2_DATA)
    assert_lists_exactly_the_tools(domain, MODERN)
    users = domain.edition.user_tools
    if users is not None:
        listed = {info["function"]["name"] for info in domain.tool_infos}
        assert not listed & (set(users) - set(domain.tools))


def test_a_users_tool_is_unknown_to_the_agent_in_a_domain_of_two_parties() -> None:
    domain = thermostats()
    users = domain.edition.user_tools
    assert users is not None
    mine = next(name for name in users if name not in domain.tools)
    text, is_error = Episode(domain, 0).call(mine)
    assert is_error
    assert "Unknown" in text or mine in text


@pytest.mark.parametrize("mode", MODES)
def test_a_call_steps_the_environment_and_gives_its_observation(
    episode: Episode, retail: Domain, mode: str
) -> None:
    action = episode.task.actions[0]
    beside = Episode(retail)

    async def by_itself() -> str:
        return (await beside.environment.step(Action(action.name, dict(action.kwargs)))).observation

    result = episode.run(lambda client: client.call_tool(action.name, dict(action.kwargs)), mode)
    assert text_of(result) == anyio.run(by_itself)
    assert not result.is_error
    (step,) = episode.environment.steps
    assert (step.action.name, step.action.kwargs) == (action.name, action.kwargs)


def test_a_whole_task_is_solved_over_mcp(episode: Episode) -> None:
    async def play(client: Any) -> None:
        for action in episode.task.actions:
            await client.call_tool(action.name, dict(action.kwargs))

    episode.run(play)
    truth = episode.environment.domain.ground_truth(TASK)
    assert episode.environment.world.changes() == truth.changes


@pytest.mark.parametrize("version", HANDSHAKES)
def test_a_client_may_initialize_for_every_request_in_every_earlier_revision(
    episode: Episode, version: str
) -> None:
    hello = {
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    }
    for number in range(2):
        status, answer = episode.post(request("initialize", hello, number))
        assert (status, answer["result"]["protocolVersion"]) == (200, version)
        told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        assert episode.post(told, mcp_protocol_version=version) == (202, None)
        status, answer = episode.post(request("tools/list"), mcp_protocol_version=version)
        assert (status, len(answer["result"]["tools"])) == (200, 16)


def test_the_policy_is_a_resource_and_a_prompt_and_there_is_nothing_else(episode: Episode) -> None:
    async def play(client: Any) -> Any:
        resources = await client.list_resources()
        prompts = await client.list_prompts()
        read = await client.read_resource(POLICY_ADDRESS)
        prompt = await client.get_prompt("policy")
        assert [one.uri for one in resources.resources] == [POLICY_ADDRESS]
        assert [one.name for one in prompts.prompts] == ["policy"]
        return read.contents[0].text, prompt.messages[0].content.text

    policy = episode.environment.policy
    assert episode.run(play) == (policy, policy)


def test_nothing_tells_of_the_task_the_user_or_the_reward(episode: Episode) -> None:
    heard: list[str] = []
    for method, params in {
        "initialize": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "x", "version": "1"},
        },
        "tools/list": {},
        "resources/list": {},
        "resources/templates/list": {},
        "resources/read": {"uri": "greenroom://task"},
        "prompts/list": {},
        "prompts/get": {"name": "task"},
        "completion/complete": {
            "ref": {"type": "ref/prompt", "name": "policy"},
            "argument": {"name": "x", "value": ""},
        },
        "tools/call": {"name": "respond", "arguments": {"content": "What is the task?"}},
    }.items():
        heard.append(json.dumps(episode.post(request(method, params))[1]))
    episode.mcp.close()
    heard.append(episode.call("calculate", {"expression": "1 + 1"})[0])
    everything = "\n".join(heard).lower()
    assert episode.task.instruction.lower()[:40] not in everything
    assert episode.environment.opening.lower()[:40] not in everything
    for word in ("reward", "ground truth", "instruction_", "task 5", "outputs"):
        assert word not in everything


def test_there_is_no_tool_to_respond_with(episode: Episode) -> None:
    text, is_error = episode.call("respond", {"content": "Hello"})
    assert is_error
    assert "end of your turn" in text
    assert episode.environment.steps == []


def test_a_refused_call_is_an_error_with_the_environments_words(episode: Episode) -> None:
    text, is_error = episode.call("get_order_details", {"order_id": "#W0"})
    assert (text, is_error) == ("Error: order not found", True)
    assert episode.environment.steps[0].failed


def test_an_unknown_tool_is_a_step_as_it_is_for_every_other_agent(episode: Episode) -> None:
    assert episode.call("fly") == ("Unknown action fly", True)
    assert len(episode.environment.steps) == 1


def test_wrong_arguments_get_the_environments_words(episode: Episode) -> None:
    text, is_error = episode.call("get_order_details", {"order": 1})
    assert is_error
    assert "unexpected keyword argument 'order'" in text


def test_calls_of_an_ended_episode_are_refused_in_words(retail: Domain) -> None:
    over = ("The conversation is over: no further call is possible.", True)
    ended = Episode(retail, max_steps=1)
    assert not ended.call("calculate", {"expression": "1 + 1"})[1]
    assert ended.call("calculate", {"expression": "1 + 1"}) == over
    closed = Episode(retail)
    closed.mcp.close()
    assert closed.call("calculate", {"expression": "1 + 1"}) == over
    assert closed.environment.steps == []


def test_calls_at_once_are_carried_out_one_after_the_other(episode: Episode) -> None:
    async def play(client: Any) -> list[str]:
        found: dict[int, str] = {}

        async def add(number: int) -> None:
            result = await client.call_tool("calculate", {"expression": f"{number} + 0"})
            found[number] = text_of(result)

        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(add, number)
        return [found[number] for number in range(20)]

    assert episode.run(play) == [f"{number}.0" for number in range(20)]
    assert len(episode.environment.steps) == 20


def test_calls_outside_of_the_agents_turn_are_refused_in_words(retail: Domain) -> None:
    found = Episode(retail)
    turns = Turns(Stage(found.environment))
    tools, heard = McpEnvironment(turns), list[tuple[str, bool]]()

    async def take_turn(message: str) -> str | None:
        heard.append(await tools.call("calculate", {"expression": "1 + 1"}))
        return None

    async def play() -> None:
        await turns.play(take_turn)
        heard.append(await tools.call("calculate", {"expression": "1 + 1"}))

    anyio.run(play)
    assert heard == [("2.0", False), ("It is not the agent's turn.", True)]
    assert len(found.environment.steps) == 1


def deep(levels: int) -> bytes:
    return b'{"a":' * levels + b"1" + b"}" * levels


def calling(arguments: bytes) -> bytes:
    name = b'"name":"calculate","arguments":'
    return b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{' + name + arguments + b"}}"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"x"',
        b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
        b'{"jsonrpc":"1.0","id":1,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":{},"method":"ping"}',
        b'{"jsonrpc":"2.0","id":1,"method":7}',
        b'{"jsonrpc":"2.0","id":1,"method":"fly"}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}',
        b"\xff\xfe\x00",
        calling(b"[]"),
        calling(b'"x"'),
        calling(deep(300)),
        calling(deep(900)),
        calling(deep(50_000)),
        calling(b'{"expression":' + b"9" * 5000 + b"}"),
        calling(b'{"expression":' + b"9" * 30 + b"}"),
    ],
)
def test_a_body_that_is_no_request_is_refused_and_takes_no_step(
    episode: Episode, body: bytes
) -> None:
    for headers in ({}, {"mcp_protocol_version": MODERN}):
        status, answer = episode.post(body, **headers)
        assert 200 <= status < 500
        if status == 200:
            assert "error" in answer or answer["result"]["isError"]
    assert episode.environment.steps == []
    assert not episode.call("calculate", {"expression": "1 + 1"})[1]


def test_halves_of_characters_and_numbers_that_are_none_do_not_reach_the_record(
    episode: Episode,
) -> None:
    anyio.run(episode.mcp.call, "calculate", {"expression": "\ud800", "more": math.nan})
    (step,) = episode.environment.steps
    assert step.action.kwargs == {"expression": "?", "more": None}


def test_a_request_beyond_the_limit_is_refused_before_it_is_read(episode: Episode) -> None:
    status, answer = episode.post(calling(b'"' + b"x" * (1 << 20) + b'"'))
    assert status == 413
    assert "1,048,576 bytes" in answer["error"]["message"]


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_there_are_no_sessions_to_open_or_end(episode: Episode, method: str) -> None:
    status, answer = episode.post(b"", method=method)
    assert status == 405
    assert "POST" in answer["error"]["message"]


def test_an_unknown_revision_is_told_what_there_is(episode: Episode) -> None:
    meta: dict[str, Any] = {
        "io.modelcontextprotocol/protocolVersion": "2031-01-01",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    status, answer = episode.post(
        request("tools/list", {"_meta": meta}),
        mcp_protocol_version="2031-01-01",
        mcp_method="tools/list",
    )
    assert status == 400
    assert answer["error"]["data"]["supported"] == [MODERN]


def test_a_wrong_token_and_a_host_of_another_site_are_refused(retail: Domain) -> None:
    found = Episode(retail)
    found.app = mcp_app(found.mcp.handle, token="right")
    for given in ({}, {"authorization": "Bearer wrong"}, {"authorization": "right"}):
        status, answer = found.post(request("tools/list"), **given)
        assert status == 401
        assert "token" in answer["error"]["message"]
    assert found.post(request("tools/list"), authorization="Bearer right")[0] == 200
    open_to_all = Episode(retail)
    assert open_to_all.post(request("tools/list"), host="evil.example")[0] == 403
    assert open_to_all.post(request("tools/list"), origin="http://evil.example")[0] == 403


@pytest.mark.slow
def test_two_hundred_episodes_in_one_process_are_never_crossed(retail: Domain) -> None:
    from starlette.routing import Route, Router

    from greenroom.workflows.serve.runner import RouteApp

    episodes = [Episode(retail) for _ in range(200)]
    routes = [Route(f"/{number}", RouteApp(one.mcp.handle)) for number, one in enumerate(episodes)]

    async def play(address: str) -> None:
        from aiohttp import ClientSession, TCPConnector

        async def one(client: ClientSession, number: int) -> None:
            for turn in range(5):
                expression = f"{number} * 1000 + {turn}"
                call = {"name": "calculate", "arguments": {"expression": expression}}
                headers = {"Accept": "application/json, text/event-stream"}
                async with client.post(
                    f"{address}/{number}", json=request("tools/call", call), headers=headers
                ) as answer:
                    result = (await answer.json())["result"]
                    assert result["content"][0]["text"] == f"{number * 1000 + turn}.0"

        # On a busy machine, a server closes kept connections as idle just when they are used again.
        async with (
            ClientSession(connector=TCPConnector(limit=200, force_close=True)) as client,
            anyio.create_task_group() as tasks,
        ):
            for number in range(200):
                tasks.start_soon(one, client, number)

    with running_app(Router(routes)) as address:
        anyio.run(play, address)
    for number, one in enumerate(episodes):
        said = [step.action.kwargs["expression"] for step in one.environment.steps]
        assert said == [f"{number} * 1000 + {turn}" for turn in range(5)]
