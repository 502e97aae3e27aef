"""What the tests of models share."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from tests.models.stub_server import StubServer, running_stub


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees, or sends, a key of whoever runs it."""
    for name in ("OPENAI_API_KEY", "GREENROOM_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
async def stub() -> AsyncGenerator[StubServer]:
    async with running_stub() as server:
        yield server
