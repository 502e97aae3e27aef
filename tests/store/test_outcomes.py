"""How an episode ends: one rule, and one entry for each outcome."""

from __future__ import annotations

from typing import get_args

import pytest

from greenroom.errors import GreenroomError
from greenroom.models import ContentFiltered, ContextWindowExceeded, ModelUnavailable
from greenroom.store import NO_RESULT, OUTCOMES, Outcome, outcome_of


class NamesNonsense(GreenroomError):
    outcome = "nonsense"


class Claims(Exception):
    outcome = "success"


def test_every_outcome_has_its_words() -> None:
    assert set(get_args(Outcome)) <= set(OUTCOMES)


def test_a_reward_decides_whatever_came_after_it() -> None:
    assert outcome_of(1.0, RuntimeError(), timed_out=True, over=True) == "success"
    assert outcome_of(0.0, over=True) == "failure"


@pytest.mark.parametrize(
    ("problem", "outcome"),
    [
        (ContextWindowExceeded("too long"), "context_window"),
        (ContentFiltered("no"), "content_filter"),
        (ModelUnavailable("gone"), NO_RESULT),
        (RuntimeError("broken"), NO_RESULT),
        (NamesNonsense("odd"), NO_RESULT),
        (Claims("not one of ours"), NO_RESULT),
    ],
)
def test_an_exception_leaves_no_result_unless_it_names_an_outcome(
    problem: Exception, outcome: str
) -> None:
    assert outcome_of(None, problem) == outcome


def test_without_a_reward_and_a_problem_a_limit_or_the_agent_ended_it() -> None:
    assert outcome_of(None, timed_out=True, over=True) == "max_time"
    assert outcome_of(None, over=True) == "max_steps"
    assert outcome_of(None) == "invalid"
