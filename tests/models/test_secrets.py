"""A key goes to the provider, and nowhere else."""

from __future__ import annotations

import traceback

import pytest

from greenroom.errors import GreenroomError, InputError
from greenroom.models import Ledger, ModelSettings, endpoint_of
from tests.models.asking import QUESTION, Naps, client_for
from tests.models.stub_server import (
    Reply,
    StubServer,
    answers,
    fails,
    json_reply,
    text_reply,
)

pytestmark = pytest.mark.anyio

KEY = "sk-planted-0123456789abcdef"
ECHOES = [
    *[fails(status, f"bad key {KEY} given") for status in (400, 401, 403, 404, 422, 429, 500)],
    fails(400, f"context length of {KEY}"),
    fails(400, KEY, "content_filter"),
    # Cut for display in the middle of the key.
    fails(500, "x" * 290 + KEY),
    text_reply(f"<html>Authorization: Bearer {KEY}</html>"),
    json_reply({"error": KEY}),
    json_reply({"error": {"message": KEY, "code": 502}}),
    json_reply({"message": KEY}, 400),
    json_reply([KEY], 500),
]


@pytest.mark.parametrize("transport", ["direct", "litellm"])
@pytest.mark.parametrize("reply", ECHOES)
@pytest.mark.parametrize("planted", [KEY, f" {KEY}\n"])
async def test_no_error_holds_the_key(
    stub: StubServer,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    transport: str,
    reply: Reply,
    planted: str,
) -> None:
    monkeypatch.setenv("GREENROOM_API_KEY", planted)
    stub.replies = [reply]
    async with client_for(stub, transport=transport, retries=Naps().policy(1)) as client:
        with pytest.raises(GreenroomError) as caught:
            await client.for_episode("agent", Ledger()).complete(QUESTION)
    assert stub.headers[0]["Authorization"] == f"Bearer {KEY}"
    shown = "".join(traceback.format_exception(caught.value))
    shown += "".join(capfd.readouterr())
    assert KEY[:12] not in shown


async def test_a_key_that_cannot_be_sent_is_not_shown(
    stub: StubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GREENROOM_API_KEY", "sk-plänted-key")
    stub.replies = [answers()]
    async with client_for(stub) as client:
        with pytest.raises(GreenroomError, match="GREENROOM_API_KEY is no key") as caught:
            await client.for_episode("agent", Ledger()).complete(QUESTION)
    assert "plänted" not in str(caught.value)


@pytest.mark.parametrize(
    "address",
    [
        "http://someone:hidden-word@host/v1",
        "http://hidden-word@host/v1",
        "http://host/v1?key=hidden-word",
        "ftp://someone:hidden-word@host",
        "someone:hidden-word@host/v1",
        "ftp://host/?key=hidden-word",
    ],
)
def test_a_password_in_an_address_is_refused_and_not_shown(address: str) -> None:
    with pytest.raises(InputError) as caught:
        endpoint_of(ModelSettings(model="m", api_base=address))
    assert "hidden-word" not in str(caught.value)


def test_a_gateway_in_the_environment_is_not_passed_by(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://gateway.example/v1")
    with pytest.raises(GreenroomError, match="Give that server by --api-base"):
        endpoint_of(ModelSettings(model="gpt-4o"))
    named = endpoint_of(ModelSettings(model="gpt-4o", api_base="http://gateway.example/v1"))
    assert named.name == "http://gateway.example/v1"
