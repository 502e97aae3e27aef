from __future__ import annotations

from collections.abc import Generator

import pytest

from greenroom.model_server import RunningServer, running_server
from tests.domains.small import small_domain


@pytest.fixture(scope="module")
def server() -> Generator[RunningServer]:
    """A server of the lamps on which nothing goes wrong."""
    with running_server(small_domain()) as running:
        yield running
