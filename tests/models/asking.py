"""Asking in tests: a client whose retries do not wait."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from greenroom.models import ModelClient, ModelRequest, ModelSettings, RetryPolicy
from tests.models.stub_server import StubServer

QUESTION = ModelRequest(messages=[{"role": "user", "content": "hi"}])


@dataclass
class Naps:
    """Stands in for sleeping: remembers how long, and does not."""

    taken: list[float] = field(default_factory=list[float])

    async def sleep(self, seconds: float) -> None:
        self.taken.append(seconds)

    def policy(self, max_retries: int = 3, *, draw: float = 0.0, now: float = 0.0) -> RetryPolicy:
        return RetryPolicy(
            max_retries=max_retries, sleep=self.sleep, draw=lambda: draw, clock=lambda: now
        )


def settings_for(stub: StubServer, **changes: Any) -> ModelSettings:
    plain = ModelSettings(model="m", api_base=stub.api_base, timeout=10.0)
    return replace(plain, **changes)


@asynccontextmanager
async def client_for(
    stub: StubServer, settings: ModelSettings | None = None, **options: Any
) -> AsyncGenerator[ModelClient]:
    options.setdefault("retries", Naps().policy())
    client = ModelClient(settings or settings_for(stub), **options)
    try:
        yield client
    finally:
        await client.close()
