"""A real language model, on this machine, in a real episode. What it says does not matter."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from greenroom.benchmark import check_config, play_run, start_run
from greenroom.models.pull import pull_smollm2
from greenroom.store import open_store


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.timeout(400)
def test_a_small_model_plays_an_episode(tmp_path: Path) -> None:
    pull_smollm2()
    config = check_config(
        {
            "agent_strategy": "structured",
            "model": "local/smollm2",
            "task_ids": [14],
            "max_num_steps": 2,
            "agent_options": {"unusable_limit": "1"},
        }
    )
    store = open_store()
    run, prepared = start_run(store, config)
    anyio.run(lambda: play_run(store, run, prepared))
    (episode,) = store.runs.results(run.id)
    assert episode.outcome != "infrastructure_error", episode.error
    assert episode.messages is not None
    assert episode.messages[0]["role"] == "system"
    assert episode.messages[2]["role"] == "assistant"
    assert episode.usage["agent"].calls >= 1
    assert episode.usage["agent"].prompt_tokens > 1000
    store.close()
