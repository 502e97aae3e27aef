from __future__ import annotations

import pytest

from tests.cli.running import Greenroom


@pytest.fixture
def greenroom(capsys: pytest.CaptureFixture[str]) -> Greenroom:
    return Greenroom(capsys)
