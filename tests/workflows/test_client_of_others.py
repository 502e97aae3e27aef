"""Workflows that others wrote are called as they want to be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from greenroom.workflows import CallError
from greenroom.workflows.call.opening import call_workflow
from greenroom.workflows.serve import running_app
from tests.workflows import agenta_env
from tests.workflows.legacy_apps import old_agenta_app, old_completion_app, shaped_app


def test_an_old_app_of_agentas() -> None:
    with running_app(old_agenta_app({"is_chat": True})) as address:
        answer = call_workflow(address, messages="hi")
        assert answer.outputs == {"role": "assistant", "content": "kind: hi, you"}
        assert answer.trace_id == "f00"
        answer = call_workflow(
            address, messages="hi", inputs={"name": "Bob"}, parameters={"tone": "warm"}
        )
        assert answer.outputs["content"] == "warm: hi, Bob"
        with pytest.raises(
            CallError, match=r"answered 422: body\.ag_config\.tone: Input should be"
        ):
            call_workflow(address, messages="hi", parameters={"tone": 1})


def test_an_old_completion() -> None:
    with running_app(old_completion_app()) as address:
        assert call_workflow(address, inputs={"country": "Peru"}).outputs == "the capital of Peru"


@pytest.mark.parametrize(("route", "prefix"), [("/run", ""), ("/invoke", ""), ("/run", "/bots/a")])
def test_an_app_with_messages_by_shape_alone(route: str, prefix: str) -> None:
    with running_app(shaped_app(route, prefix)) as address:
        given: dict[str, Any] = {"messages": "hi", "inputs": {"name": "Bob"}}
        answer = call_workflow(f"{address}{prefix}", **given)
    assert answer.outputs == {"role": "assistant", "content": "hi, Bob"}


def test_where_the_agenta_sdk_is_missing_it_is_told_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(agenta_env, "PYTHON", tmp_path / "python")
    with pytest.raises(RuntimeError, match=r"'make test' and 'make bench' set up \.venv-agenta"):
        agenta_env.agenta_python()
    with pytest.raises(RuntimeError, match="make test"), agenta_env.running_agenta():
        pass
