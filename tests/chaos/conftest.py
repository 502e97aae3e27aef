"""What the tests of disturbances share: a provider that counts, and jobs in processes."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.chaos.jobs import Scene, staged
from tests.chaos.provider import Provider, running_provider


@pytest.fixture
def provider() -> Generator[Provider]:
    with running_provider() as server:
        yield server


@pytest.fixture
def scene(provider: Provider, tmp_path: Path) -> Generator[Scene]:
    with staged(provider, tmp_path) as made:
        yield made
