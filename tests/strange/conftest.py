from __future__ import annotations

import gc
import warnings
from collections.abc import Generator

import pytest

from tests.cli.running import Greenroom


@pytest.fixture
def greenroom(capsys: pytest.CaptureFixture[str]) -> Generator[Greenroom]:
    yield Greenroom(capsys)
    # Each command opens the store for itself; in life, its connections end with the process.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
