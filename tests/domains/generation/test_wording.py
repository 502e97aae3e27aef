"""Texts with alternatives."""

from __future__ import annotations

import re
from random import Random

import pytest

from greenroom.domains.airline.generator.content import WORDING as AIRLINE
from greenroom.domains.generation import Wording
from greenroom.domains.retail.generator.content import TEXTS
from greenroom.domains.retail.generator.content import WORDING as RETAIL
from greenroom.domains.tau2.telecom.generator.content import WORDING as TELECOM


def test_choices_lists_and_words_are_drawn() -> None:
    wording = Wording(
        {"go": ["[Go|Walk [fast|slowly]] to <place>[, {name}|]."]}, {"place": ["the sea", "<hut>"]}
        | {"hut": ["a hut"]}
    )  # fmt: skip
    said = {wording.say(Random(seed), "go", name="Ann") for seed in range(400)}
    verbs, places, ends = ("Go", "Walk fast", "Walk slowly"), ("the sea", "a hut"), (", Ann.", ".")
    assert said == {f"{v} to {p}{e}" for v in verbs for p in places for e in ends}


def test_an_entry_is_not_drawn_twice_for_one_text() -> None:
    wording = Wording({"x": ["<mood>, <mood> and <mood>", "<one> <one>"]}, {"mood": ["a", "b", "c"]}
        | {"one": ["z"]}
    )  # fmt: skip
    said = {wording.say(Random(seed), "x") for seed in range(60)}
    assert {"".join(sorted(re.findall(r"\b[abc]\b", text))) for text in said} == {"abc"} | {""}
    assert "z z" in said


def test_an_empty_choice_leaves_no_gap() -> None:
    wording = Wording({"x": ["You [|] wait [|], [|]then go[|]."]}, {})
    assert wording.say(Random(1), "x") == "You wait, then go."


@pytest.mark.parametrize(
    "wording", [RETAIL, AIRLINE, TELECOM], ids=["retail", "airline", "telecom"]
)
def test_every_text_can_be_drawn_and_every_list_is_used(wording: Wording) -> None:
    words = _Words()
    for texts in (*wording.texts.values(), *wording.lists.values()):
        for template in texts:
            assert template.count("[") == template.count("]")
            assert set(re.findall(r"<(\w+)>", template)) <= wording.lists.keys()
    for text in wording.texts:
        for seed in range(20):
            drawn = wording._draw(Random(seed), Random(seed).choice(wording.texts[text]))  # pyright: ignore[reportPrivateUsage]
            said = drawn.format_map(words)
            assert not re.search(r"[\[\]<>|]", said), said


def test_the_rich_wording_has_every_plain_text() -> None:
    assert TEXTS.keys() - RETAIL.texts.keys() <= {"ask_new_balance", "cancel_or_track"}


class _Words(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return key
