"""Costs as reports tell them: all that was spent, by whom, and what nobody knows."""

from __future__ import annotations

from typing import Any

import pytest

from greenroom.reports.sections import Table
from greenroom.reports.shared_sections import cost_figure, costs_table
from greenroom.store import Usage

CONFIG: dict[str, Any] = {"model": "big", "user_model": "small"}
AGENT = Usage(calls=2, prompt_tokens=10, cost=0.3)
USER = Usage(calls=1, prompt_tokens=5, cost=0.05)


def costs_of(spent: dict[str, Usage], wasted: dict[str, Usage], **more: Any) -> Table:
    (found,) = costs_table(spent, wasted, 1, **more)
    assert isinstance(found, Table)
    return found


def test_the_cost_is_all_that_was_spent_by_purse() -> None:
    found = cost_figure([{"agent": AGENT, "user": USER}, {"agent": AGENT}], CONFIG, "$0.3500 each")
    assert found.value == pytest.approx(0.65)
    assert found.meaning == "in all; $0.3500 each; agent $0.6000, user $0.0500"


def test_a_model_without_a_price_is_named() -> None:
    unpriced = Usage(calls=1, prompt_tokens=9)
    found = cost_figure([{"agent": AGENT, "user": unpriced}], CONFIG)
    assert (found.value, found.unknown) == (None, "$0.3000 or more")
    assert found.meaning == "no price for small (user): see --prices"
    workflow = cost_figure([{"agent": unpriced}], {}, agent="workflow")
    assert (workflow.value, workflow.unknown) == (None, "unknown")
    assert workflow.meaning == "the workflow does not tell what it costs"


def test_an_agent_with_its_own_client_does_not_tell_its_cost() -> None:
    found = cost_figure([{"user": USER}], CONFIG, untold=True)
    assert (found.value, found.unknown) == (None, "$0.0500 or more")
    assert found.meaning == "the agent does not tell what it costs"
    table = costs_of({"user": USER}, {"user": USER}, untold=True)
    assert table.rows[-1].cells[0] == "In all, without the agent"
    assert table.notes == ["What the agent spends on its own models is not counted."]


def test_failed_calls_cost_nothing_and_lost_ones_an_unknown_amount() -> None:
    failed = costs_of({"agent": Usage(calls=9, cost=0.0)}, {})
    assert failed.rows[0].cells[1:] == [9, 0, 0, "nothing"]
    assert failed.notes == ["Providers bill nothing for calls that they answer with an error."]
    lost = costs_of({"agent": AGENT}, {"agent": Usage(calls=2, cost=0.0, lost_calls=2)})
    assert [row.cells[4] for row in lost.rows] == [0.3, "unknown", 0.3]
    assert "2 calls without an answer may be billed on top." in lost.notes
    assert "2 calls without" in cost_figure([{"agent": Usage(cost=0.1, lost_calls=2)}], {}).meaning
