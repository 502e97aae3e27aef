"""The load that the benchmark puts on a server: counted, and only where the answers are right."""

from __future__ import annotations

import pytest
from benchmarks.serving import requests_per_second

from greenroom import workflow
from tests.workflows.serving import serving


@pytest.mark.slow
def test_answers_are_counted() -> None:
    calls = 0

    @workflow
    async def count(step: int) -> int:
        nonlocal calls
        calls += step
        return calls

    with serving(count) as server:
        url = f"{server.address}/invoke"
        rate = requests_per_second(url, {"inputs": {"step": 1}}, 0.2, 4)
        assert 0 < rate * 0.2 <= calls
        with pytest.raises(AssertionError, match="not the answer that was expected"):
            requests_per_second(url, {"inputs": {}}, 0.1, 1)
