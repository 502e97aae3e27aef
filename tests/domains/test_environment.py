from __future__ import annotations

import pytest

from greenroom.domains.diff import ABSENT, FieldDifference
from greenroom.domains.environment import Environment
from greenroom.domains.tasks import STOP, Action, Task, respond
from greenroom.errors import EpisodeOver, InputError
from greenroom.users import ScriptedUser
from tests.domains.small import small_domain

pytestmark = pytest.mark.anyio

LIGHT_HALL = Action("light", {"lamp": "hall"})
LIGHT_ATTIC = Action("light", {"lamp": "attic"})


async def environment_of(task: int, user: ScriptedUser | None = None) -> Environment:
    environment = Environment(small_domain(), user or ScriptedUser(), max_steps=4)
    await environment.reset(task)
    return environment


async def test_an_episode_from_reset_to_reward() -> None:
    environment = await environment_of(0)
    assert environment.opening == "Light the hall."
    step = await environment.step(LIGHT_HALL)
    assert step.observation == '{"lit": true, "watts": 5}'
    assert (step.done, step.source, step.invalid) == (False, "light", None)
    assert environment.reward is None
    last = await environment.step(respond("Done."))
    assert (last.observation, last.done, last.source) == (STOP, True, "user")
    assert environment.reward is not None
    assert environment.reward.value == 1.0
    assert environment.reward.differences == []


async def test_both_parts_of_the_reward_are_told_field_by_field() -> None:
    environment = await environment_of(1)
    await environment.step(LIGHT_ATTIC)
    await environment.step(respond("There are 1,000 lamps."))
    reward = environment.reward
    assert reward is not None
    assert reward.value == 0.0
    assert not reward.database
    assert reward.outputs == {"10": True}
    assert reward.strict_outputs == {"10": False}
    assert reward.differences == [
        FieldDifference("lamps", "hall", "lit", expected=True, actual=False),
        FieldDifference("lamps", "attic", "lit", expected=False, actual=True),
    ]
    assert str(reward.differences[0]) == "lamps[hall].lit: expected True, got False"
    assert reward.to_json()["differences"][0] == {
        "table": "lamps",
        "record": "hall",
        "path": "lit",
        "expected": True,
        "actual": False,
    }


async def test_the_official_and_the_strict_score_may_part() -> None:
    environment = await environment_of(1)
    await environment.step(LIGHT_HALL)
    await environment.step(respond("There are 1000 lamps."))
    assert environment.reward is not None
    assert (environment.reward.value, environment.reward.strict_value) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("said", "official", "strict"),
    [
        ("You have 10.", True, True),
        ("It is $10!", True, True),
        ("It is 1,0 dollars", True, True),
        ("It is 10.50", True, False),
        ("It is 3.10", True, False),
        ("It is 210", True, False),
        ("Gate A10", True, False),
        ("Nothing", False, False),
    ],
)
async def test_outputs_are_found_in_what_was_said(said: str, official: bool, strict: bool) -> None:
    environment = await environment_of(1)
    await environment.step(respond(said))
    assert environment.reward is not None
    assert environment.reward.outputs == {"10": official}
    assert environment.reward.strict_outputs == {"10": strict}


async def test_outputs_may_be_spread_over_several_messages_in_any_case() -> None:
    domain = small_domain(Task("Tell me.", outputs=("Blue", "42")))
    environment = Environment(domain, ScriptedUser(["and?"]))
    await environment.reset(0)
    await environment.step(respond("It is BLUE."))
    await environment.step(respond("And 42."))
    assert environment.reward is not None
    assert environment.reward.value == 1.0


async def test_a_tool_can_end_the_episode() -> None:
    environment = await environment_of(2)
    step = await environment.step(Action("transfer_to_human_agents", {"summary": "s"}))
    assert step.done
    assert environment.reward is not None
    assert environment.reward.value == 1.0


async def test_the_user_ends_it_by_the_word_anywhere_in_a_message() -> None:
    environment = await environment_of(0, ScriptedUser([f"Thanks {STOP} bye"]))
    assert (await environment.step(respond("Hello"))).done


@pytest.mark.parametrize(
    ("action", "observation"),
    [
        (Action("fly"), "Unknown action fly"),
        (Action("light"), "Error: Light.invoke() missing 1 required positional argument: 'lamp'"),
        (Action("light", {"lamp": []}), "Error: unhashable type: 'list'"),
        (Action("respond"), "Error: respond needs the argument 'content', a text."),
        (Action("respond", {"content": 5}), "Error: respond needs the argument 'content', a text."),
    ],
)
async def test_invalid_actions_are_answered_and_recorded(action: Action, observation: str) -> None:
    environment = await environment_of(0)
    step = await environment.step(action)
    assert step.observation == observation
    assert step.invalid is not None
    assert not step.done
    assert environment.steps == [step]


async def test_a_refusal_by_the_tool_is_a_valid_action() -> None:
    environment = await environment_of(0)
    step = await environment.step(Action("light", {"lamp": "cellar"}))
    assert step.observation == "Error: lamp not found"
    assert step.invalid is None


async def test_no_step_after_the_last() -> None:
    environment = await environment_of(0)
    for _ in range(4):
        await environment.step(LIGHT_HALL)
    assert environment.over
    assert not environment.done
    assert environment.reward is None
    with pytest.raises(EpisodeOver, match="4 steps are used up"):
        await environment.step(LIGHT_HALL)


async def test_no_step_after_the_end_and_none_before_a_reset() -> None:
    environment = Environment(small_domain(), ScriptedUser())
    with pytest.raises(EpisodeOver, match="Reset"):
        await environment.step(LIGHT_HALL)
    await environment.reset(0)
    await environment.step(respond("Bye"))
    with pytest.raises(EpisodeOver, match="done"):
        await environment.step(LIGHT_HALL)


async def test_a_reset_forgets_everything() -> None:
    environment = await environment_of(0)
    await environment.step(LIGHT_HALL)
    await environment.step(respond("Done."))
    assert environment.reward is not None
    await environment.reset(0)
    assert environment.reward is None
    assert environment.steps == []
    await environment.step(respond("Done."))
    assert environment.reward.value == 0.0


async def test_a_task_that_is_not_there() -> None:
    environment = Environment(small_domain(), ScriptedUser())
    with pytest.raises(InputError, match="no task 7"):
        await environment.reset(7)


async def test_a_record_that_is_missing_or_new_is_told_whole() -> None:
    environment = await environment_of(0)
    del environment.world["lamps"]["attic"]
    environment.world["lamps"]["porch"] = {"lit": True}
    await environment.step(LIGHT_HALL)
    await environment.step(respond("Done."))
    assert environment.reward is not None
    assert environment.reward.differences == [
        FieldDifference("lamps", "attic", "", expected={"lit": False}, actual=ABSENT),
        FieldDifference("lamps", "porch", "", expected=ABSENT, actual={"lit": True}),
    ]
    assert "actual" not in environment.reward.differences[0].to_json()


async def test_the_same_change_by_another_way_scores_the_same() -> None:
    environment = await environment_of(0)
    record = environment.world["lamps"]["hall"]
    environment.world["lamps"]["hall"] = dict(reversed((record | {"lit": True}).items()))
    assert environment.world["lamps"]["attic"] == {"lit": False}
    await environment.step(respond("Done."))
    assert environment.reward is not None
    assert environment.reward.value == 1.0
