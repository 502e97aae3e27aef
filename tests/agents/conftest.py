"""What tests of agents share."""

from __future__ import annotations

import pytest

from tests.agents.fastworkflow_fixtures import (
    allow_time_for_training,
    small_models,
    trained_retail,
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    allow_time_for_training(items)


__all__ = ["small_models", "trained_retail"]
