"""What the fastworkflow agent asks for before it makes folders and loads FastWorkflow."""

from __future__ import annotations

import pytest

from greenroom.agents.fastworkflow import fastworkflow_adapter
from tests.cli.running import Greenroom


def test_a_missing_key_is_told_before_fastworkflow_is_loaded(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    def loaded(*_: object) -> None:
        raise AssertionError("FastWorkflow is loaded")

    monkeypatch.setattr(fastworkflow_adapter, "prepare_workers", loaded)
    for more in (
        ("--model", "gpt-4o"),
        ("--model", "x", "--api-base", "http://127.0.0.1:9/v1", "--user-model", "gpt-4o"),
    ):
        result = Greenroom(capsys)(
            "run", "--agent-strategy", "fastworkflow", "--task-ids", 1, *more
        )
        assert result.status == 2
        assert result.err.startswith("error: OpenAI wants a key: set OPENAI_API_KEY.")
