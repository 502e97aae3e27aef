"""The OpenAPI document: valid and true."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field
from starlette.routing import Route

from greenroom import chat_workflow, workflow
from greenroom.errors import InputError
from greenroom.messages import Message
from greenroom.workflows.serve import create_app


class Address(BaseModel):
    city: str


class Customer(BaseModel):
    name: str
    addresses: list[Address] = Field(default_factory=list[Address])
    tier: Literal["gold", "silver"] = "silver"


class Settings(BaseModel):
    tone: str = "kind"
    words: int = Field(default=10, gt=0)


@chat_workflow(name="Support bot", parameters=Settings)
async def support(
    messages: list[dict[str, Any]], parameters: Settings, customer: Customer | None = None
) -> dict[str, Any]:
    """Answers customers."""
    said = messages[-1].get("content") if messages else None
    return {"role": "assistant", "content": f"{parameters.tone}: {said}"}


@chat_workflow
def talker(messages: list[Message], mood: str) -> Iterator[str]:
    yield mood
    yield "".join(message.text for message in messages)


@workflow(parameters={"loud": True})
def shout(text: str, times: int = 1, *, note: str | None = None) -> str:
    return text.upper() * min(max(times, 0), 3)


@workflow
def anything(inputs: dict[str, Any]) -> Any:
    return inputs


app = create_app(support, talker, shout, anything)
document = app.openapi()


def test_the_document_is_valid() -> None:
    import schemathesis  # takes a second

    assert document["openapi"].startswith("3.1")
    # The package tells its types only in part.
    schema: Any = schemathesis.openapi.from_asgi("/openapi.json", app)
    schema.validate()


def test_it_tells_which_workflow_is_a_chat_workflow() -> None:
    for path in ("/run", "/test", "/invoke", "/Support-bot/run"):
        assert document["paths"][path]["post"]["x-agenta"] == {"flags": {"is_chat": True}}
    assert "x-agenta" not in document["paths"]["/shout/run"]["post"]


def test_the_body_of_the_old_routes_has_messages_at_its_root() -> None:
    body = document["paths"]["/run"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert body["properties"]["messages"]["x-ag-type-ref"] == "messages"
    assert body["required"] == ["messages"]
    other = document["paths"]["/shout/run"]["post"]["requestBody"]["content"]["application/json"]
    assert "messages" not in other["schema"]["properties"]


def test_definitions_are_found_where_references_say() -> None:
    components = document["components"]["schemas"]
    wanted: set[str] = set()

    def look(value: Any) -> None:
        if isinstance(value, dict):
            if "$ref" in value:
                wanted.add(value["$ref"])  # pyright: ignore
            assert "$defs" not in value
            for item in value.values():  # pyright: ignore
                look(item)
        elif isinstance(value, list):
            for item in value:  # pyright: ignore
                look(item)

    look(document)
    assert {name.removeprefix("#/components/schemas/") for name in wanted} <= set(components)
    assert "Support-bot.Customer" in components


def test_operations_have_names_of_their_own() -> None:
    names = [one["operationId"] for path in document["paths"].values() for one in path.values()]
    assert len(names) == len(set(names))


def test_a_token_is_in_the_document() -> None:
    secured = create_app(shout, token="very-secret").openapi()
    assert secured["security"] == [{"token": []}]
    assert secured["paths"]["/health"]["get"]["security"] == []
    assert "very-secret" not in str(secured)


def test_every_route_of_the_server_is_in_the_document() -> None:
    served = {route.path for route in app.routes if isinstance(route, Route)}
    # MCP's clients ask the server itself what there is. Parts of a response are not offered.
    parts = {path for path in served if path.endswith("/v1/responses/{id}/{part}")}
    assert parts
    assert served - {"/openapi.json", "/mcp"} - parts == set(document["paths"])
    single = [route.path for route in create_app(shout).routes if isinstance(route, Route)]
    for name in {path.split("/")[1] for path in single} - {"", "openapi.json"}:
        other = workflow(name=name)(str.upper)
        with pytest.raises(InputError, match="one of the server's own paths"):
            create_app(shout, other)


def test_routes_that_are_added_are_in_the_document_too() -> None:
    extended = create_app(shout)

    @extended.get("/more")
    def more() -> dict[str, int]:  # pyright: ignore[reportUnusedFunction]
        return {"more": 1}

    paths = extended.openapi()["paths"]
    assert {"/more", "/invoke", "/health"} <= set(paths)
