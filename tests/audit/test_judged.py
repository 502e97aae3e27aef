from __future__ import annotations

import pytest

from greenroom.audit import Finding, talk_of
from greenroom.audit.judged import placed
from tests.audit.talking import called, episode, said

TALK = talk_of(
    episode(
        "Return the lamp.",
        "Hi, I want to return a lamp.",
        called("ok"),
        said("Which one?", "The red one, please.\nAnd keep\xa0the bulb."),
        said("Done.", "###STOP###"),
    )
)


@pytest.mark.parametrize(
    ("words", "turn"),
    [
        ("The red one, please.", 2),
        ("“the RED one, please. And keep the bulb”", 2),
        ("return a lamp...", 1),
        ("The green one, please.", 0),
        ("Which one?", 0),
        ("", 0),
        ('" - "', 0),
    ],
)
def test_a_judges_quotation_counts_where_the_user_said_it(words: str, turn: int) -> None:
    judged = Finding(
        kind="blamed_by_judge", sentence="A reason.", turn=0, words=words, source="judge"
    )
    found = placed(judged, TALK)
    assert found.turn == turn
    shown = {0: "", 1: "Hi, I want to return a lamp."}
    assert found.words == shown.get(turn, "The red one, please. And keep the bulb.")
    assert found.sentence == "A reason."
