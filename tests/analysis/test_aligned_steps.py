"""Steps beside the ground truth, and steps of two episodes side by side."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from greenroom.analysis.aligned_steps import align_episode, align_steps
from greenroom.store import ActionRecord, EpisodeRecord, StepRecord, TaskRecord
from greenroom.trajectories import RESPOND
from tests.store.samples import sample_episode


def _step(name: str, value: str, *, writes: bool = False, observation: str = "ok") -> StepRecord:
    key = "content" if name == RESPOND else "order_id"
    action = ActionRecord(name=name, kwargs={key: value}, writes=writes)
    return StepRecord(action=action, observation=observation, source=name, turn=1)


def _episode(wanted: list[StepRecord], done: list[StepRecord]) -> EpisodeRecord:
    task = TaskRecord(instruction="", actions=[one.action for one in wanted])
    return sample_episode(task=task, steps=done)


def test_actions_stand_beside_the_steps_that_were_made_for_them() -> None:
    look, other = _step("look", "1"), _step("look", "2")
    cancel, give_back = _step("cancel", "1", writes=True), _step("return", "2", writes=True)
    wrong = _step("return", "3", writes=True)
    refused = _step("cancel", "1", writes=True, observation="Error: too late")
    found = align_episode(_episode([look, other, cancel, give_back], [refused, look, wrong]))
    assert [(one.step, one.relation) for one in found.truth] == [
        (1, "same"),
        (None, "none"),
        (0, "same"),
        (2, "arguments"),
    ]
    assert found.truth[2].refusal == "Error: too late"
    assert [one.name for one in found.truth[3].arguments] == ["order_id"]
    assert found.extra == ()


def test_a_look_is_taken_once_and_what_nobody_wanted_is_extra() -> None:
    look, cancel = _step("look", "1"), _step("cancel", "1", writes=True)
    found = align_episode(_episode([look, look], [look, cancel]))
    assert [one.step for one in found.truth] == [0, None]
    assert found.extra == (1,)


def test_steps_of_two_episodes_meet_again_after_they_parted() -> None:
    hello, look = _step(RESPOND, "hello"), _step("look", "1")
    left = [hello, look, _step("cancel", "1"), _step(RESPOND, "done")]
    right = [hello, _step("find", "1"), look, _step("cancel", "2"), _step(RESPOND, "all done")]
    found = [(one.left, one.right, one.relation) for one in align_steps(left, right)]
    assert found == [
        (0, 0, "same"),
        (None, 1, "right"),
        (1, 2, "same"),
        (2, 3, "arguments"),
        (3, 4, "words"),
    ]


_STEPS = st.lists(
    st.builds(_step, st.sampled_from([RESPOND, "look", "cancel"]), st.sampled_from("12")),
    max_size=12,
)


@given(left=_STEPS, right=_STEPS)
def test_every_step_stands_once_in_its_order(
    left: list[StepRecord], right: list[StepRecord]
) -> None:
    pairs = align_steps(left, right)
    assert [one.left for one in pairs if one.left is not None] == list(range(len(left)))
    assert [one.right for one in pairs if one.right is not None] == list(range(len(right)))
    for one in pairs:
        if one.left is not None and one.right is not None:
            assert left[one.left].action.name == right[one.right].action.name
            assert (one.relation == "same") == (left[one.left].action == right[one.right].action)


@given(steps=_STEPS)
def test_an_episode_is_the_same_as_itself(steps: list[StepRecord]) -> None:
    assert all(one.relation == "same" for one in align_steps(steps, steps))


def test_what_is_too_long_to_be_aligned_stands_alone() -> None:
    steps = [_step("look", str(number)) for number in range(450)]
    pairs = align_steps(steps, steps)
    assert len([one for one in pairs if one.relation == "same"]) == 400
    assert len(pairs) == 500
