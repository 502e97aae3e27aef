"""How long is waited before another attempt."""

from __future__ import annotations

from email.utils import formatdate

import pytest

from greenroom.models import Ledger, ModelUnavailable, RetryPolicy
from greenroom.models.retries import retry_after_seconds
from tests.models.asking import QUESTION, Naps, client_for
from tests.models.stub_server import StubServer, answers, fails

NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (None, None),
        ("", None),
        ("7", 7.0),
        ("0.25", 0.25),
        ("-3", 0.0),
        ("nan", None),
        ("soon", None),
        (formatdate(NOW + 30, usegmt=True), 30.0),
        (formatdate(NOW - 30, usegmt=True), 0.0),
    ],
)
def test_what_a_provider_asks_for(text: str | None, seconds: float | None) -> None:
    assert retry_after_seconds(text, NOW) == seconds


def test_the_wait_doubles_up_to_a_bound_and_is_drawn_at_random() -> None:
    longest = RetryPolicy(draw=lambda: 1.0)
    assert [longest.wait(retry, None) for retry in range(1, 9)] == [
        0.5,
        1.0,
        2.0,
        4.0,
        8.0,
        16.0,
        20.0,
        20.0,
    ]
    assert RetryPolicy(draw=lambda: 0.25).wait(3, None) == 0.5
    assert RetryPolicy(draw=lambda: 0.0).wait(3, None) == 0.0


@pytest.mark.parametrize(("asked", "waited"), [("7", 7.25), ("600", 120.25), ("inf", 120.25)])
def test_what_a_provider_asks_for_is_heeded_within_reason(asked: str, waited: float) -> None:
    assert RetryPolicy(draw=lambda: 0.5).wait(1, asked) == waited


@pytest.mark.anyio
@pytest.mark.parametrize("transport", ["direct", "litellm"])
@pytest.mark.parametrize(
    ("header", "waited"), [("7", 7.0), (formatdate(NOW + 30, usegmt=True), 30.0), ("5000", 120.0)]
)
async def test_retry_after_is_waited_for(
    stub: StubServer, transport: str, header: str, waited: float
) -> None:
    # The date counts from the provider's own clock: the one here may be an hour ahead.
    stub.replies = [fails(429, Retry_After=header, Date=formatdate(NOW, usegmt=True)), answers()]
    naps = Naps()
    ahead = naps.policy(now=NOW + 3600)
    async with client_for(stub, transport=transport, retries=ahead) as client:
        await client.for_episode("agent", Ledger()).complete(QUESTION)
    assert naps.taken == [waited]


@pytest.mark.anyio
@pytest.mark.parametrize("retries", [0, 1, 5])
async def test_no_more_retries_than_allowed(stub: StubServer, retries: int) -> None:
    stub.replies = [fails(500)]
    naps = Naps()
    async with client_for(stub, retries=naps.policy(retries, draw=1.0)) as client:
        with pytest.raises(ModelUnavailable) as caught:
            await client.for_episode("agent", Ledger()).complete(QUESTION)
    assert caught.value.retries == retries
    assert naps.taken == [0.5, 1.0, 2.0, 4.0, 8.0][:retries]
    assert len(stub.asked) == retries + 1
