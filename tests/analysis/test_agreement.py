"""Agreement: Krippendorff's alpha against examples worked out by hand, and when there is none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from greenroom.analysis.agreement import (
    AgreementFigure,
    Opinion,
    Opinions,
    Question,
    Rater,
    collect_opinions,
    count_raters,
    measure_agreement,
)
from greenroom.store import FaultAuthor, FaultKind, JudgementSummary, MarkRecord, Verdict

WORDS: Mapping[str, Verdict] = {"a": "agent", "u": "user", "t": "task", "e": "environment"}


def mark(task: int, author: str, verdict: Verdict | None = None, tag: str = "") -> MarkRecord:
    return MarkRecord(
        id=f"{task} {author}", item=task, trial=0, author=author, tag=tag, verdict=verdict
    )


def people(**rows: str) -> list[MarkRecord]:
    """A letter of each row is a verdict on an episode; a point is none."""
    return [
        mark(task, author, WORDS[letter])
        for author, letters in rows.items()
        for task, letter in enumerate(letters)
        if letter != "."
    ]


def judged(
    *said: tuple[int, FaultAuthor | None, FaultKind | None],
) -> dict[str, list[JudgementSummary]]:
    return {
        "big-model": [
            JudgementSummary(
                task, 0, "answered" if author else "infrastructure_error", author, kind
            )
            for task, author, kind in said
        ]
    }


def figure(opinions: Opinions, **wanted: object) -> AgreementFigure:
    wanted = {"about": "verdict", "value": None, "with_judges": False} | wanted
    (found,) = (
        one
        for one in measure_agreement(opinions)
        if all(getattr(one, name) == value for name, value in wanted.items())
    )
    return found


def by_hand(rows: Sequence[str]) -> float:
    """Alpha by its definition: 1 - observed disagreement / expected disagreement."""
    units = [[letter for letter in unit if letter != "."] for unit in zip(*rows, strict=True)]
    units = [unit for unit in units if len(unit) > 1]
    values = [value for unit in units for value in unit]
    observed = sum(
        sum(a != b for a in unit for b in unit) / (len(unit) - 1) for unit in units
    ) / len(values)
    expected = sum(a != b for a in values for b in values) / (len(values) * (len(values) - 1))
    return 1 - observed / expected


@pytest.mark.slow
def test_alpha_is_that_of_krippendorffs_own_example() -> None:
    """Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", example C."""
    rows = ("12332141 2...", "12332241 25.3", ".3332342 251.", "12332441 251.")
    opinions: Opinions = {
        (unit, 0): {
            Rater("person", str(rater)): Opinion(value)
            for rater, value in enumerate(values)
            if value != "."
        }
        for unit, values in enumerate(zip(*(row.replace(" ", "") for row in rows), strict=True))
    }
    found = figure(opinions)
    assert found.alpha == pytest.approx(0.743, abs=0.0005)
    assert (found.episodes, found.raters) == (11, 4)


@settings(max_examples=min(50, settings().max_examples))
@given(st.lists(st.text("aute.", min_size=9, max_size=9), min_size=2, max_size=4))
def test_alpha_is_what_its_definition_gives(rows: list[str]) -> None:
    named = {f"rater {number}": row for number, row in enumerate(rows)}
    found = figure(collect_opinions(people(**named), {}))
    units = [unit for unit in zip(*rows, strict=True) if len(unit) - unit.count(".") > 1]
    assert found.episodes == len(units)
    assert found.agreed == sum(len({*unit} - {"."}) == 1 for unit in units)
    values = {letter for unit in units for letter in unit} - {"."}
    if len(units) >= 5 and len(values) > 1:
        assert found.alpha == pytest.approx(by_hand(rows))
    else:
        assert found.alpha is None
        assert found.words.startswith("Not enough")


@pytest.mark.parametrize(
    ("one", "other", "alpha", "words"),
    [
        ("aaauuuaaa", "aaauuuaaa", 1.0, "They agree well"),
        ("auauauauau" * 2, "auauauauua" * 2, 0.61, "too little"),
        ("au" * 8, "au" * 7 + "ua", 0.76, "fairly"),
        ("auauau", "uauaua", -0.83, "no more than by chance"),
        ("aaaa", "uaau", None, "Not enough: 4 episodes"),
        ("a", "a", None, "Not enough: 1 episode marked"),
        ("aaaaaa", "aaaaaa", None, "everybody always says the same"),
    ],
)
def test_what_alpha_means_is_told(one: str, other: str, alpha: float | None, words: str) -> None:
    found = figure(collect_opinions(people(Ann=one, Bob=other), {}))
    assert found.alpha == (None if alpha is None else pytest.approx(alpha, abs=0.01))
    assert words in found.words


def test_without_marks_there_is_not_enough() -> None:
    (found,) = measure_agreement(collect_opinions([], {}))
    assert (found.alpha, found.episodes, found.raters) == (None, 0, 0)
    assert found.words.startswith("Not enough: 0 episodes")


def test_the_latest_verdict_of_a_person_counts() -> None:
    marks = [mark(0, "Ann", "agent"), mark(0, "Ann", "task"), mark(0, "Ann", tag="rude")]
    opinions = collect_opinions([*marks, mark(0, "Bob", "task")], {})
    assert Question("verdict").differing(opinions) == []
    assert figure(opinions).agreed == 1


def test_each_verdict_and_each_tag_has_its_own_figure() -> None:
    marks = people(Ann="aautte", Bob="aautet")
    marks += [mark(task, "Ann", tag="rude") for task in range(3)]
    marks += [mark(task, "Bob", tag="rude") for task in range(1, 3)]
    opinions = collect_opinions(marks, {})
    assert figure(opinions, value="agent").alpha == 1.0
    assert figure(opinions, value="task").agreed == 4
    rude = figure(opinions, about="tag", value="rude")
    assert (rude.episodes, rude.agreed, rude.raters) == (6, 5, 2)
    assert Question("tag", "rude").differing(opinions) == [(0, 0)]


def test_a_judge_counts_the_task_as_part_of_the_environment() -> None:
    opinions = collect_opinions(
        people(Ann="tteaau", Bob="tteaaa"),
        judged(
            (0, "environment", None),
            (1, "environment", None),
            (2, "environment", None),
            (3, "agent", "called_wrong_tool"),
            (4, "user", None),
            (5, None, None),
        ),
    )
    assert count_raters(opinions)[-1] == (("judge", "big-model"), 5)
    people_only, together = figure(opinions), figure(opinions, with_judges=True)
    assert (people_only.raters, together.raters) == (2, 3)
    assert (people_only.agreed, together.agreed) == (5, 4)
    assert Question("verdict", with_judges=True).differing(opinions) == [(4, 0), (5, 0)]


def test_a_judge_has_a_say_in_kinds_of_faults_and_in_no_other_tag() -> None:
    marks = [mark(task, name, tag=tag) for task, name, tag in _tagged("called_wrong_tool", "rude")]
    wrong: list[tuple[int, FaultAuthor | None, FaultKind | None]] = [
        (task, "agent", "called_wrong_tool" if task else "other") for task in range(5)
    ]
    opinions = collect_opinions(marks, judged(*wrong))
    tools = figure(opinions, about="tag", value="called_wrong_tool", with_judges=True)
    assert (tools.raters, tools.episodes, tools.agreed) == (3, 5, 4)
    assert not [
        one for one in measure_agreement(opinions) if one.with_judges and one.value == "rude"
    ]


def _tagged(*tags: str) -> Iterable[tuple[int, str, str]]:
    return ((task, name, tag) for task in range(5) for name in ("Ann", "Bob") for tag in tags)
