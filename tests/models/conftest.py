"""What the tests of models share."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from tests.models.stub_server import StubServer, running_stub


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave litellm to one process: its import takes seconds."""
    for item in items:
        if "litellm" in item.name or "both_transports" in item.name:
            item.add_marker(pytest.mark.xdist_group("litellm"))


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
