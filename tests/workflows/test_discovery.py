"""What is found out about a workflow before it is called, and what decides."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest
from aiohttp import web

from greenroom.errors import GreenroomError, InputError
from greenroom.model_server import running_server
from greenroom.workflows import WorkflowUnavailable
from greenroom.workflows.call.addresses import is_address, parse_address
from greenroom.workflows.call.discovery import discover, find_workflow
from greenroom.workflows.call.wires import EnvelopeWire, PlainWire
from greenroom.workflows.serve import running_app
from tests.domains.small import small_domain
from tests.workflows.legacy_apps import old_agenta_app, old_completion_app, shaped_app
from tests.workflows.stub_workflow import Stub, running_stub, says, writes

pytestmark = pytest.mark.anyio

MARKED = {"type": "object", "properties": {"messages": {"x-ag-type-ref": "messages"}}}
SHAPED = {"type": "object", "properties": {"messages": {"type": "array"}}}
OTHER = {"type": "object", "properties": {"country": {"type": "string"}}}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def no_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GREENROOM_TOKEN", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
async def stub() -> AsyncGenerator[Stub]:
    async with running_stub() as server:
        yield server


def inspected(
    *, outer: Any = None, inner: Any = None, inputs: Any = None, **revision: Any
) -> dict[str, Any]:
    """What /inspect answers."""
    data: dict[str, Any] = {"uri": "user:custom:app.support:latest", **revision.pop("data", {})}
    if inputs is not None:
        data["schemas"] = {"inputs": inputs}
    answer: dict[str, Any] = {"version": "2025.07.14", "revision": {"data": data, **revision}}
    answer["request"] = {} if inner is None else {"flags": inner}
    return answer if outer is None else answer | {"flags": outer}


def openapi(flags: Any = None, body: Any = None, path: str = "/test") -> dict[str, Any]:
    post: dict[str, Any] = {"requestBody": {"content": {"application/json": {"schema": body}}}}
    if flags is not None:
        post["x-agenta"] = {"flags": flags}
    return {"openapi": "3.1.0", "info": {"title": "FastAPI"}, "paths": {path: {"post": post}}}


# The order in which things count ------------------------------------------------------------------


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("place", ["inner", "outer"])
async def test_a_declared_flag_counts_before_everything_else(
    stub: Stub, place: str, declared: bool
) -> None:
    flags = {place: {"is_chat": declared}}
    stub.routes["POST /inspect"] = says(inspected(inputs=OTHER if declared else MARKED, **flags))
    stub.routes["GET /openapi.json"] = says(openapi({"is_chat": not declared}))
    found = await discover(stub.address)
    where = "request.flags" if place == "inner" else "flags"
    assert found.is_chat is declared
    assert found.decided_by == f"the flag {where}.is_chat = {str(declared).lower()} in /inspect"
    assert found.flags == {"is_chat": declared}
    assert stub.lines == ["POST /inspect"]


async def test_the_flags_of_the_request_count_before_those_at_the_top(stub: Stub) -> None:
    stub.routes["POST /inspect"] = says(
        inspected(inner={"is_chat": False}, outer={"is_chat": True, "is_custom": True})
    )
    found = await discover(stub.address)
    assert (found.is_chat, found.flags) == (False, {"is_chat": False, "is_custom": True})


@pytest.mark.parametrize("declared", [True, False])
async def test_flags_in_the_openapi_document_count_before_schemas(
    stub: Stub, declared: bool
) -> None:
    stub.routes["POST /inspect"] = says(inspected(inputs=MARKED, inner={"is_custom": True}))
    stub.routes["GET /openapi.json"] = says(openapi({"is_chat": declared}, SHAPED))
    found = await discover(stub.address)
    assert found.is_chat is declared
    said = f"x-agenta.flags.is_chat = {str(declared).lower()} of /test"
    assert found.decided_by == f"the flag {said} in the OpenAPI document"
    assert found.interface == "invoke"


async def test_a_mark_in_the_schema_counts_before_a_shape(stub: Stub) -> None:
    stub.routes["POST /inspect"] = says(inspected(inputs=MARKED))
    found = await discover(stub.address)
    assert found.is_chat
    assert found.decided_by == "the schema of the inputs, which marks messages as a message history"


async def test_a_mark_of_old_apps_in_the_openapi_document(stub: Stub) -> None:
    body = {"type": "object", "properties": {"messages": {"x-parameter": "messages"}}}
    stub.routes["GET /openapi.json"] = says(openapi(None, body))
    found = await discover(stub.address)
    assert found.decided_by == "the schema of /test, which marks messages as a message history"


@pytest.mark.parametrize(
    ("schema", "is_chat"),
    [
        ({"type": "array"}, True),
        ({}, True),
        ({"type": ["array", "null"]}, True),
        ({"anyOf": [{"type": "array"}, {"type": "null"}]}, True),
        ({"type": "string"}, False),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, False),
    ],
)
async def test_a_shape_with_messages_is_the_last_resort(
    stub: Stub, schema: Any, is_chat: bool
) -> None:
    body = {"type": "object", "properties": {"messages": schema}}
    stub.routes["GET /openapi.json"] = says(openapi(None, body, "/run"))
    found = await discover(stub.address)
    assert found.is_chat is is_chat
    said = "the schema of /run, which has a list of messages"
    assert found.decided_by == (
        said if is_chat else "default: there is no flag, and the inputs have no list of messages"
    )


async def test_what_neither_says_nor_looks_like_chat_is_none(stub: Stub) -> None:
    stub.routes["POST /inspect"] = says(inspected(inputs=OTHER))
    found = await discover(stub.address)
    assert not found.is_chat
    assert found.decided_by == "default: there is no flag, and the inputs have no list of messages"


async def test_a_flag_that_is_no_flag_is_none(stub: Stub) -> None:
    stub.routes["POST /inspect"] = says(inspected(inner={"is_chat": "no"}, inputs=MARKED))
    assert (await discover(stub.address)).is_chat


# What else is known -------------------------------------------------------------------------------


async def test_everything_that_inspect_tells(stub: Stub) -> None:
    data = {
        "parameters": {"tone": "kind"},
        "schemas": {"inputs": MARKED, "outputs": {"x-ag-type-ref": "message"}},
    }
    stub.routes["POST /inspect"] = says(
        inspected(inner={"is_chat": True}, name="Support bot", description="Helps.", data=data)
    )
    found = await discover(f"{stub.address}/")
    assert (found.name, found.description) == ("Support bot", "Helps.")
    assert found.address == stub.address
    assert found.parameters == {"tone": "kind"}
    assert found.schemas.inputs == MARKED
    assert found.schemas.outputs == {"x-ag-type-ref": "message"}
    assert found.schemas.parameters is None
    stub.routes["POST /inspect"] = says(inspected(inner={"is_chat": True}))
    assert (await discover(stub.address)).name == "support"


async def test_an_inspect_that_only_answers_get(stub: Stub) -> None:
    stub.routes["POST /inspect"] = says({"detail": "Method Not Allowed"}, status=405)
    stub.routes["GET /inspect"] = says({"flags": {"is_chat": True}})
    found = await discover(stub.address)
    assert (found.is_chat, found.interface) == (True, "invoke")


async def test_pages_of_a_workflow_stand_for_it(stub: Stub) -> None:
    stub.routes["POST /bot/inspect"] = says(inspected(inner={"is_chat": True}))
    for page in ("", "/", "/invoke", "/inspect", "/openapi.json"):
        assert (await discover(f"{stub.address}/bot{page}")).address == f"{stub.address}/bot"


# Old apps, and those of others ------------------------------------------------------------------


@pytest.mark.parametrize("declared", [True, False])
async def test_an_old_app_of_agentas_is_found_by_its_openapi_document(declared: bool) -> None:
    with running_app(old_agenta_app({"is_chat": declared})) as address:
        found = await find_workflow(address)
    profile = found.profile
    assert profile.is_chat is declared
    assert profile.decided_by.startswith("the flag x-agenta.flags")
    # Its /run would want a configuration that is stored somewhere.
    assert profile.interface == "test"
    assert profile.parameters == {"tone": "kind"}
    assert set((profile.schemas.inputs or {})["properties"]) == {"messages"}
    assert found.wire == PlainWire(
        f"{address}/test", frozenset({"messages", "inputs", "ag_config"})
    )


async def test_an_old_app_without_a_flag_is_judged_by_its_shape() -> None:
    with running_app(old_agenta_app()) as address:
        found = await discover(f"{address}/run")
    assert (found.is_chat, found.interface) == (True, "run")
    assert found.decided_by == "the schema of /test, which has a list of messages"


async def test_an_old_completion() -> None:
    with running_app(old_completion_app()) as address:
        found = await discover(address)
    assert (found.name, found.is_chat, found.interface) == ("Capitals", False, "run")
    assert (found.schemas.inputs or {})["properties"]["country"]["type"] == "string"


@pytest.mark.parametrize("route", ["/run", "/invoke"])
async def test_an_app_with_messages_by_shape_alone(route: str) -> None:
    with running_app(shaped_app(route)) as address:
        found = await find_workflow(address)
    assert found.profile.is_chat
    assert found.profile.decided_by == f"the schema of {route}, which has a list of messages"
    assert found.wire == PlainWire(f"{address}{route}", frozenset({"messages", "inputs"}))


async def test_an_app_whose_routes_lie_under_a_path() -> None:
    with running_app(shaped_app(prefix="/bots/one")) as address:
        found = await discover(f"{address}/bots/one")
        assert found.address == f"{address}/bots/one"
        assert (found.is_chat, found.name) == (True, "one")
        with pytest.raises(InputError, match="There is no workflow"):
            await discover(f"{address}/bots/two")


async def test_an_envelope_in_an_openapi_document(stub: Stub) -> None:
    data = {"type": "object", "properties": {"inputs": MARKED, "parameters": {"type": "object"}}}
    body = {"$ref": "#/components/schemas/Body"}
    document = openapi(None, body, "/invoke")
    document["components"] = {
        "schemas": {
            "Body": {"properties": {"data": {"anyOf": [{"$ref": "#/components/schemas/Data"}]}}},
            "Data": data,
        }
    }
    stub.routes["GET /openapi.json"] = says(document)
    found = await find_workflow(stub.address)
    assert found.profile.schemas.inputs == MARKED
    assert found.profile.is_chat
    assert isinstance(found.wire, EnvelopeWire)


async def test_a_schema_that_contains_itself(stub: Stub) -> None:
    document = openapi(None, {"$ref": "#/components/schemas/Node"}, "/run")
    node = {"properties": {"child": {"$ref": "#/components/schemas/Node"}, "messages": {}}}
    document["components"] = {"schemas": {"Node": node}}
    stub.routes["GET /openapi.json"] = says(document)
    assert (await discover(stub.address)).is_chat


# OpenAI's protocol --------------------------------------------------------------------------------


async def test_an_openai_compatible_server_chats_by_nature() -> None:
    with running_server(small_domain()) as server:
        found = await discover(f"{server.api_base}#oracle")
        assert (found.name, found.is_chat, found.interface) == ("oracle", True, "openai")
        assert found.decided_by == "the protocol: the server speaks OpenAI's, which is for chats"
        assert found.address == f"{server.api_base}#oracle"
        # What was found is found again, and without /v1 too.
        assert await discover(found.address) == found
        assert await discover(server.address, model="oracle") == found
        assert await discover(f"{server.api_base}/chat/completions", model="oracle") == found
        for address in (server.api_base, server.address):
            with pytest.raises(InputError, match=r"several models: name one, as in .*/v1#oracle"):
                await discover(address)


async def test_the_only_model_need_not_be_named(stub: Stub) -> None:
    stub.routes["GET /v1/models"] = says({"object": "list", "data": [{"id": "tiny"}]})
    assert (await discover(f"{stub.address}/v1")).name == "tiny"
    assert (await discover(stub.address)).address == f"{stub.address}/v1#tiny"


async def test_a_server_that_lists_no_models(stub: Stub) -> None:
    assert (await discover(f"{stub.address}/v1#tiny")).interface == "openai"
    with pytest.raises(InputError, match="There is no workflow"):
        await discover(f"{stub.address}/v1")


async def test_what_is_declared_counts_before_models_that_are_served_as_well(stub: Stub) -> None:
    stub.routes["GET /v1/models"] = says({"data": [{"id": "bot"}]})
    stub.routes["POST /inspect"] = says(inspected(inner={"is_chat": False}))
    assert (await discover(stub.address)).interface == "invoke"
    assert (await discover(f"{stub.address}#bot")).interface == "openai"


async def test_a_model_that_was_named_is_not_another_workflow(stub: Stub) -> None:
    stub.routes["POST /inspect"] = says(inspected(inner={"is_chat": True}))
    with pytest.raises(InputError, match="There is no workflow"):
        await discover(f"{stub.address}#bot")


# What people are told -----------------------------------------------------------------------------


async def test_where_there_is_nothing_everything_that_was_tried_is_listed(stub: Stub) -> None:
    stub.routes["GET /openapi.json"] = says({"paths": {"/health": {"get": {}}}})
    stub.routes["GET /v1/models"] = writes("<html>hello</html>", "text/html")
    with pytest.raises(InputError) as caught:
        await discover(stub.address)
    assert str(caught.value).splitlines() == [
        f"There is no workflow at {stub.address}. Tried:",
        f"  POST {stub.address}/inspect: 404 Not Found",
        f"  GET {stub.address}/inspect: 404 Not Found",
        f"  GET {stub.address}/openapi.json: an answer, but no workflow in it",
        f"  GET {stub.address}/v1/models: an answer that is not JSON",
        f"  GET {stub.address}/models: 404 Not Found",
    ]


async def test_nothing_listens() -> None:
    with pytest.raises(WorkflowUnavailable, match=r"Nothing listens at 127\.0\.0\.1:1"):
        await discover("http://127.0.0.1:1")
    with pytest.raises(WorkflowUnavailable, match=r"no host 'nowhere\.invalid'"):
        await discover("http://nowhere.invalid")


async def test_a_token_is_wanted_and_sent(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    stub.routes["POST /inspect"] = says({"detail": "Unauthorized"}, status=401)
    with pytest.raises(InputError, match=r"needs a token: set GREENROOM_TOKEN\."):
        await discover(stub.address)
    assert "Authorization" not in stub.asked[-1].headers
    monkeypatch.setenv("GREENROOM_TOKEN", "secret-token-1")
    with pytest.raises(
        InputError, match="does not accept the token: set GREENROOM_TOKEN"
    ) as caught:
        await discover(stub.address)
    assert "secret-token-1" not in str(caught.value)
    assert stub.asked[-1].headers["Authorization"] == "Bearer secret-token-1"
    with pytest.raises(InputError):
        await discover(stub.address, token="ApiKey abc")
    assert stub.asked[-1].headers["Authorization"] == "ApiKey abc"
    monkeypatch.setenv("GREENROOM_TOKEN", "gehe\x1bim")
    with pytest.raises(InputError, match="GREENROOM_TOKEN is not a valid token"):
        await discover(stub.address)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("ftp://example.org", "is not the address of a workflow"),
        ("http://", "is not the address of a workflow"),
        ("http://host:port", "is not the address of a workflow"),
        ("http://me:secret@host", "contains a name or a password"),
        ("http://host/bot?x=1", "has no query"),
    ],
)
async def test_addresses_that_are_none(address: str, words: str) -> None:
    with pytest.raises(GreenroomError, match=words) as caught:
        await discover(address)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://localhost:8000", True),
        ("localhost:8000", True),
        ("127.0.0.1:8000/bot", True),
        ("bots.example.org:80#x", True),
        ("[::1]:8000", True),
        ("app.py:bot", False),
        ("app.py", False),
        ("package.app:bot", False),
        ("folder/app.py:bot", False),
        ("agent:tool-calling?env=retail&api_base=http://127.0.0.1:9000/v1", False),
    ],
)
async def test_addresses_are_told_from_files(text: str, expected: bool) -> None:
    assert is_address(text) is expected
    if expected:
        assert parse_address(text).base.startswith("http://")


async def test_a_listing_of_models_that_fails_is_named(stub: Stub) -> None:
    async def drops(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.close()
        return web.Response()

    stub.routes = {"GET /v1/models": drops}
    with pytest.raises(WorkflowUnavailable) as caught:
        await discover(f"{stub.address}/v1")
    assert f"GET {stub.address}/v1/models" in str(caught.value)
    assert f"name one: {stub.address}/v1#MODEL" in str(caught.value)
    named = await discover(f"{stub.address}/v1#mine")
    assert (named.name, named.is_chat) == ("mine", True)
