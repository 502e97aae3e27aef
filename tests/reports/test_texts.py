"""Words that all reports share."""

from __future__ import annotations

import pytest

from greenroom.domains.domain import load_domain
from greenroom.domains.tau2.tasks import scenario_text
from greenroom.reports.sections import Figure
from greenroom.reports.texts import figure_text, interval_note, wish


@pytest.mark.parametrize(
    ("instruction", "wanted"),
    [
        ("You are Ann Lee in 19122. You want a refund.", "You want a refund."),
        ("Your user id is ann_1 and you want to fly.", "You want to fly."),
        (
            "Your name is Ann. Your email is ann@example.com. The kettle broke. You are cross.",
            "The kettle broke. You are cross.",
        ),
        ("Buy a kettle.", "Buy a kettle."),
        ("You are Ann Lee.", "You are Ann Lee."),
        ("", ""),
    ],
)
def test_the_wish_comes_without_who_the_user_is(instruction: str, wanted: str) -> None:
    assert wish(instruction) == wanted


def test_built_in_tasks_are_shown_by_their_wishes() -> None:
    for task in load_domain("retail").tasks():
        assert "@example" not in wish(task.instruction)[:80]


def test_a_scenario_of_tau2_is_shown_by_the_reason_for_the_call() -> None:
    parts = {"domain": "telecom", "known_info": "You are Ann.", "task_instructions": "Be brief."}
    told = scenario_text("You are impatient.", parts | {"reason_for_call": "No signal.\n\nFix it."})
    assert wish(told) == "No signal. Fix it."
    assert wish(scenario_text(None, "You want a card.\nAsk for gold.")) == (
        "You want a card. Ask for gold."
    )


def test_a_cautious_interval_has_a_star_and_its_reason() -> None:
    figure = Figure(key="x", label="x", value=1.0, low=0.8, high=1.0, cautious=True)
    assert figure_text(figure)[1] == "0.800 to 1.000 *"
    plain = figure.model_copy(update={"cautious": False})
    assert figure_text(plain)[1] == "0.800 to 1.000"
    assert "Those with * are cautious" in interval_note(0.95, "it", cautious=True)
    assert "*" not in interval_note(0.95, "it")
