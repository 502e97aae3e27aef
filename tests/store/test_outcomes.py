"""How an episode ends: one rule, and one entry for each outcome."""

from __future__ import annotations

from typing import get_args

import pytest

from greenroom.errors import GreenroomError, OutsideFault
from greenroom.models import ContentFiltered, ContextWindowExceeded, ModelUnavailable
from greenroom.store import NO_RESULT, OUTCOMES, Outcome, outcome_of


class NamesNonsense(GreenroomError):
    outcome = "nonsense"


class Claims(Exception):
    outcome = "success"


def caused_by(cause: Exception) -> Exception:
    """What `raise ValueError(...) from cause` raises."""
    error = ValueError("the agent's own words")
    error.__cause__ = cause
    return error


def within(problem: Exception) -> Exception:
    """What the agent raises while it handles another error."""
    error = ValueError("the agent's own words")
    error.__context__ = problem
    return error


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
        (OutsideFault("the user broke"), NO_RESULT),
        (caused_by(ModelUnavailable("gone")), NO_RESULT),
        (within(ModelUnavailable("gone")), NO_RESULT),
        (ExceptionGroup("two tasks", [KeyError("a"), ModelUnavailable("gone")]), NO_RESULT),
        (RuntimeError("broken"), "crashed"),
        (caused_by(KeyError("name")), "crashed"),
        (NamesNonsense("odd"), "crashed"),
        (Claims("not one of ours"), "crashed"),
    ],
)
def test_an_exception_is_a_crash_unless_something_else_is_behind_it(
    problem: Exception, outcome: str
) -> None:
    assert outcome_of(None, problem) == outcome


def test_without_a_reward_and_a_problem_a_limit_or_the_agent_ended_it() -> None:
    assert outcome_of(None, timed_out=True, over=True) == "max_time"
    assert outcome_of(None, over=True) == "max_steps"
    assert outcome_of(None) == "invalid"
