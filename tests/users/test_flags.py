from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.domains.steps import Step, UserCall
from greenroom.domains.tasks import STOP, Action, respond
from greenroom.users import conversation_flags, flags_of_steps
from greenroom.users.flags import FLAG_WORDS

FLAGS = ["ended_before_agent_acted", "repeated_itself", "stop_inside_sentence", "empty_message"]


@pytest.mark.parametrize(
    ("opening", "replies", "calls", "flags"),
    [
        ("Hi", ["Number 7", STOP], [0, 2], []),
        ("Hi", [STOP], [3], []),
        ("Hi", ["Number 7", STOP], [1, 0], []),
        ("Hi", [], [], []),
        (STOP, [], [], ["ended_before_agent_acted"]),
        ("Hi", [STOP], [0], ["ended_before_agent_acted"]),
        ("Hi", ["Number 7", STOP], [0, 0], ["ended_before_agent_acted"]),
        ("Hi", ["Number 7", "number  7!"], [0, 1], ["repeated_itself"]),
        ("Hi", ["hi"], [1], ["repeated_itself"]),
        ("Hi", ["Yes", "No", "yes.", "Oh"], [1, 1, 1, 1], []),
        ("Hi", ["Yes", "No", "yes.", "Oh", "YES"], [1, 1, 1, 1, 1], ["repeated_itself"]),
        ("Hi", ["...", "?"], [1, 1], []),
        ("Hi", ["...", "..."], [1, 1], ["repeated_itself"]),
        ("Hi", [f"Thanks! {STOP}"], [1], ["stop_inside_sentence"]),
        ("Hi", [f" {STOP}.\n"], [1], []),
        ("Hi", ["", " "], [1, 1], ["empty_message"]),
        ("", ["Hi"], [1], ["empty_message"]),
        (f"No {STOP}", ["", "a", "a"], [0, 0, 0], FLAGS),
    ],
)
def test_flags(opening: str, replies: list[str], calls: list[int], flags: list[str]) -> None:
    assert conversation_flags(opening, replies, calls) == flags


def test_every_reply_needs_its_count() -> None:
    with pytest.raises(ValueError, match="Every reply"):
        conversation_flags("Hi", ["a"], [])


@given(
    st.text(max_size=4),
    st.lists(st.tuples(st.sampled_from(["a", "A!", "", STOP, f"b {STOP}"]), st.integers(0, 2))),
)
def test_flags_are_known_ordered_and_single(opening: str, replies: list[tuple[str, int]]) -> None:
    flags = conversation_flags(opening, [text for text, _ in replies], [n for _, n in replies])
    assert flags == [flag for flag in FLAGS if flag in flags]


def test_flags_of_the_steps_of_an_episode() -> None:
    call = Step(Action("light", {}), "on", "light", done=False)
    unknown = Step(Action("fly", {}), "Unknown action fly", "fly", done=False, invalid="Unknown")
    wordless = Step(Action("respond", {}), "Error", "user", done=False, invalid="Error")
    stop = Step(respond("Done."), STOP, "user", done=True)
    assert flags_of_steps("Hi", [call, stop]) == []
    assert flags_of_steps("Hi", [wordless, wordless, unknown, stop]) == ["ended_before_agent_acted"]
    assert flags_of_steps("Hi", []) == []
    acted = replace(stop, user_calls=(UserCall(Action("toggle_data", party="user"), "on"),))
    assert flags_of_steps("Hi", [acted]) == []  # the agent had the user act


def test_every_flag_has_words() -> None:
    assert list(FLAG_WORDS) == FLAGS
