"""Workflows that pages can talk to: declared ones, servers that people add, agents."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from greenroom.model_server import running_server
from greenroom.store import Store, open_store
from greenroom.workflows.serve import create_app, running_app
from tests.playground import talk_app
from tests.playground.conftest import Open
from tests.playground.talking import APP, Talk, address

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
TOKEN = "a-very-secret-token"


@pytest.fixture
def talk(open_playground: Open) -> Talk:
    return Talk(open_playground(sources=[str(APP)]).api)


@contextmanager
def hanging() -> Generator[str]:
    """A server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def by_name(talk: Talk) -> dict[str, Any]:
    return {one["name"]: one for one in talk.get("workflows")["items"]}


def test_declared_workflows_say_what_they_are_and_what_decided(talk: Talk) -> None:
    found = by_name(talk)
    parrot, capital = found["parrot"], found["capital"]
    assert (parrot["kind"], parrot["address"], parrot["is_chat"]) == (
        "declared",
        address("parrot"),
        True,
    )
    assert (parrot["interface"], parrot["decided_by"]) == ("local", "the flag is_chat = true")
    assert parrot["flags"]["is_chat"] is True
    assert parrot["schemas"]["inputs"]["properties"].keys() == {"messages", "tone"}
    assert (capital["is_chat"], capital["error"]) == (False, None)
    assert talk.get("workflows/one", address=parrot["address"]) == parrot
    assert talk.get("workflows/one", address=parrot["address"], refresh=True) == parrot


def test_agents_are_there_and_those_with_a_script_are_not(talk: Talk) -> None:
    found = by_name(talk)
    agent = found["tool-calling"]
    assert (agent["kind"], agent["address"], agent["is_chat"]) == (
        "agent",
        "agent:tool-calling",
        True,
    )
    assert agent["schemas"]["parameters"]["required"] == ["model"]
    assert "retail" in agent["schemas"]["parameters"]["properties"]["env"]["enum"]
    assert "oracle" not in found
    why = talk.get("workflows/one", address="agent:oracle")["error"]
    assert "plays from a script" in why
    why = talk.get("workflows/one", address="agent:tool-calling?api_base=http://evil")["error"]
    assert "where the playground starts" in why
    broken = talk.say(talk.thread("agent:tool-calling"), "hello")["last"]
    assert (broken["status"], "model" in broken["error"]) == ("broken", True)


@pytest.mark.slow
def test_an_agent_talks_and_two_threads_have_two_worlds(open_playground: Open, retail: Any) -> None:
    with running_server(retail) as server:
        named = f"agent:tool-calling?model=oracle&api_base={server.api_base}"
        talk = Talk(open_playground(sources=[named]).api)
        assert named in [one["address"] for one in talk.get("workflows")["items"]]
        board = talk.post(
            "boards",
            threads=[
                {"address": named, "parameters": {"task": 5}},
                {"address": named, "parameters": {"task": 1}},
            ],
        )
        for thread, task in zip(board["threads"], (5, 1), strict=True):
            spoken = talk.say(thread, retail.task(task).instruction)
            assert spoken["last"]["status"] == "done", spoken["last"]["error"]
            assert spoken["last"]["tool_calls"][0]["has_output"]
            assert spoken["last"]["replies"]
            again = talk.say(spoken, *spoken["last"]["said"], after="")
            assert again["last"]["status"] == "done"  # another session, another world
        back = talk.post(f"threads/{board['threads'][0]['id']}/copy")
        assert "begin a new thread" in talk.say(back, "and then?")["last"]["error"]
        wrong = talk.thread(named, parameters={"api_base": "http://127.0.0.1:1"})
        assert "Unknown parameter 'api_base'" in talk.say(wrong, "hi")["last"]["error"]
        lost = talk.thread(named, parameters={"task": 99_999})
        assert talk.say(lost, "hi")["last"]["status"] == "broken"


def test_parameters_with_a_key_are_not_kept(talk: Talk) -> None:
    secret = {"llm": {"api_key": "sk-abcdefghijklmnop123"}}
    spec = {"address": address("parrot"), "parameters": secret}
    assert "looks like a key" in talk.refused("POST", "boards", 422, threads=[spec])
    thread = talk.thread("parrot", parameters={"tone": "mild", "max_tokens": 100_000})
    board = thread["board_id"]
    for method, path in (
        ("PATCH", f"threads/{thread['id']}"),
        ("PATCH", f"boards/{board}/columns/0"),
        ("POST", f"boards/{board}/columns"),
        ("POST", f"boards/{board}/threads"),
    ):
        body = {"parameters": secret, "version": 1, "address": address("parrot")}
        keep = {"threads": ("parameters", "version"), "boards": ("parameters", "address")}
        sent = {name: body[name] for name in keep[path.partition("/")[0]]}
        told = talk.refused(method, path, 422, **sent)
        assert "looks like a key" in told
        assert "abcdefgh" not in told


@pytest.mark.slow
def test_people_add_servers_and_take_them_out_again(open_playground: Open) -> None:
    store = open_store()
    with running_app(create_app(talk_app.parrot)) as served:
        talk = Talk(open_playground(store, [str(APP)]).api)
        added = talk.post("workflows", address=f"{served}/invoke")
        assert (added["kind"], added["added"], added["name"]) == ("url", True, "parrot")
        assert "is_chat = true in /inspect" in added["decided_by"]
        assert added["address"] == f"{served}/invoke"
        spoken = talk.say(talk.thread(added["address"], inputs={"tone": "far"}), "hello")
        assert spoken["last"]["replies"][0]["content"] == "far: hello "
        talk.delete("workflows", address=added["address"])
        assert added["address"] not in [one["address"] for one in talk.get("workflows")["items"]]
        restored = talk.post("workflows/restore", address=added["address"])
        assert restored == added
        again = Talk(open_playground(store).api)  # another playground on the same store
        assert added["address"] in [one["address"] for one in again.get("workflows")["items"]]
    for bad, why in (
        ("app.py:bot", "Only addresses of servers"),
        ("http://me:secret@host.example/", "contains a name or a password"),
        ("http://host.example/?token=abc", "has no query"),
        ("ftp://host.example", "not the address of a workflow"),
    ):
        told = talk.refused("POST", "workflows", 422, address=bad)
        assert why in told
        assert "secret" not in told
    assert "add it first" in talk.refused(
        "POST", "workflows/restore", 422, address="http://x.example"
    )
    store.close()


@pytest.mark.slow
def test_servers_that_are_down_or_hang_do_not_keep_the_list(open_playground: Open) -> None:
    with hanging() as stuck:
        talk = Talk(open_playground(sources=[str(APP), stuck, "http://127.0.0.1:9"]).api)
        found = {one["address"]: one for one in talk.get("workflows")["items"]}
        assert "Nothing listens at 127.0.0.1:9" in found["http://127.0.0.1:9"]["error"]
        assert "has not answered" in found[stuck]["error"]
        assert found[address("parrot")]["error"] is None
        broken = talk.say(talk.thread("http://127.0.0.1:9"), "hello")["last"]
        assert (broken["status"], "Nothing listens" in broken["error"]) == ("broken", True)


@pytest.mark.slow
def test_a_file_that_cannot_be_loaded_says_so(open_playground: Open, tmp_path: Path) -> None:
    source = tmp_path / "broken_app.py"
    source.write_text("import nothing_of_this_name\n")
    talk = Talk(open_playground(sources=[str(source), str(APP)]).api)
    broken = talk.get("workflows")["items"][0]
    assert "nothing_of_this_name" in broken["error"]
    assert "parrot" in by_name(talk)
    again = talk.get("workflows/one", address=str(source), refresh=True)
    assert "nothing_of_this_name" in again["error"]
    # Once it is mended, it can be looked at again.
    source.write_text(
        "from greenroom import workflow\n\n\n@workflow\ndef mended(x: str) -> str:\n    return x\n"
    )
    assert talk.get("workflows/one", address=str(source), refresh=True)["name"] == "mended"
    assert by_name(talk)["mended"]["error"] is None
    assert str(source) not in by_name(talk)
    # The other way round, its threads say what is wrong with the file.
    thread = talk.thread(f"{source}:mended", inputs={"x": "1"})
    source.write_text("import nothing_of_this_name\n")
    for _ in range(2):
        query = {"address": thread["address"], "refresh": "true"}
        assert "nothing_of_this_name" in talk.api.get("workflows/one", params=query).text
    assert "nothing_of_this_name" in talk.say(thread)["last"]["error"]


# What a page may not reach


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254",
        "[::ffff:169.254.169.254]",
        "[fe80::1]",
        "[fd00:ec2::254]",
        "100.100.100.200",
        "[::169.254.169.254]",
        "metadata.google.internal",
        "0xa9fea9fe",
    ],
)
def test_metadata_addresses_are_off_limits(open_playground: Open, host: str) -> None:
    talk = Talk(open_playground().api)
    added = talk.post("workflows", address=f"http://{host}/latest")
    assert "off limits" in added["error"]


class Names:
    """Resolves every name to this machine, and from the second time on perhaps elsewhere."""

    def __init__(self, later: str = "127.0.0.1") -> None:
        self._later = later
        self._asked = 0

    async def resolve(self, host: str, port: int = 0, family: Any = 0) -> list[Any]:
        self._asked += 1
        place = "127.0.0.1" if self._asked == 1 else self._later
        found = {"hostname": host, "host": place, "port": port}
        return [{**found, "family": socket.AF_INET, "proto": 0, "flags": 0}]

    async def close(self) -> None:
        """Nothing to close."""


def resolve_by(names: Names, monkeypatch: pytest.MonkeyPatch) -> None:
    def made(*_: Any, **__: Any) -> Names:
        return names

    monkeypatch.setattr(aiohttp.connector, "DefaultResolver", made)


@pytest.mark.slow
def test_names_that_change_their_address_are_seen_through(
    open_playground: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    names, paths = Names(later="169.254.169.254"), list[str]()
    resolve_by(names, monkeypatch)

    async def answer(request: web.Request) -> web.Response:
        paths.append(request.path)
        return web.json_response({"flags": {"is_chat": True}})

    with served_aiohttp(answer) as port:
        talk = Talk(open_playground().api)
        found = talk.post("workflows", address=f"http://rebinding.example:{port}")
        assert (found["error"], found["is_chat"]) == (None, True)
        broken = talk.say(talk.thread(found["address"]), "hello")["last"]
        assert (broken["status"], "off limits" in broken["error"]) == ("broken", True)
    assert set(paths) == {"/inspect"}


def test_redirects_are_not_followed_and_the_token_stays_here(
    open_playground: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, str | None]] = []

    async def answer(request: web.Request) -> web.Response:
        seen.append((request.host, request.headers.get("Authorization")))
        raise web.HTTPFound("http://169.254.169.254/latest")

    monkeypatch.setenv("GREENROOM_TOKEN", TOKEN)
    with served_aiohttp(answer) as port:
        talk = Talk(open_playground().api)
        elsewhere = talk.post("workflows", address=f"http://localhost.example:{port}")
        assert elsewhere["error"]
        added = talk.post("workflows", address=f"http://127.0.0.1:{port}")
        assert "302" in added["error"]
        assert TOKEN not in str(added)
    assert seen
    assert {authorization for _, authorization in seen} == {f"Bearer {TOKEN}"}  # loopback is ours


@pytest.mark.slow
def test_a_server_elsewhere_does_not_get_the_token(
    open_playground: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str | None] = []

    async def answer(request: web.Request) -> web.Response:
        seen.append(request.headers.get("Authorization"))
        return web.json_response({}, status=401)

    monkeypatch.setenv("GREENROOM_TOKEN", TOKEN)
    resolve_by(Names(), monkeypatch)
    with served_aiohttp(answer) as port:
        elsewhere = f"http://elsewhere.example:{port}"
        added = Talk(open_playground().api).post("workflows", address=elsewhere)
        assert "name it with --url when you start the playground" in added["error"]
        assert set(seen) == {None}
        named = Talk(open_playground(sources=[elsewhere]).api)
        assert "does not accept the token" in named.get("workflows/one", address=elsewhere)["error"]
        assert f"Bearer {TOKEN}" in seen


@contextmanager
def served_aiohttp(answer: Handler) -> Generator[int]:
    """A server that answers every request so, in a thread: its port."""
    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", answer)
    loop = asyncio.new_event_loop()
    runner = web.AppRunner(app)
    loop.run_until_complete(runner.setup())
    site = web.TCPSite(runner, "127.0.0.1", 0)
    loop.run_until_complete(site.start())
    port = int(runner.addresses[0][1])
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield port
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.run_until_complete(runner.cleanup())
        loop.close()


@pytest.mark.slow
def test_the_store_and_the_browser_never_see_a_token(
    store: Store, open_playground: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GREENROOM_TOKEN", TOKEN)
    with running_app(create_app(talk_app.breaking, talk_app.parrot, token=TOKEN)) as served:
        talk = Talk(open_playground(store, [f"{served}/parrot"]).api)
        thread = talk.say(talk.thread(f"{served}/parrot"), f"my token is {TOKEN}?")
        assert thread["last"]["status"] == "done"
        down = talk.thread(f"{served}/nowhere")
        assert TOKEN not in str(talk.say(down, "hello")["last"]["error"])
        assert TOKEN not in talk.api.get("workflows").text
