"""Figures of judges: those of published examples, and those that were planted."""

from __future__ import annotations

import math
import random
from collections import Counter
from datetime import UTC, datetime

import pytest

from greenroom.analysis.agreement import beyond_chance, krippendorffs_alpha
from greenroom.analysis.judge_checks import (
    JudgeCheck,
    JudgeFigures,
    Variant,
    Verdict,
    evaluator_prompt,
    judge_key,
    measure_check,
)

Rows = list[tuple[str, object, str]]


def rated(**raters: str) -> Rows:
    """What each rater says of the items in turn; a dot says nothing."""
    return [
        (name, item, said)
        for name, line in raters.items()
        for item, said in enumerate(line.split())
        if said != "."
    ]


@pytest.mark.parametrize(
    ("rows", "alpha"),
    [
        # Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), examples A, B and C.
        (rated(meg="0 1 0 0 0 0 0 0 1 0", owen="1 1 1 0 0 1 0 0 0 0"), 0.095),
        (rated(ben="a a b b d c c c e d d a", gerry="b a b b b c c c e d d d"), 0.692),
        (
            rated(
                a="1 2 3 3 2 1 4 1 2 . . .",
                b="1 2 3 3 2 2 4 1 2 5 . 3",
                c=". 3 3 3 2 3 4 2 2 5 1 .",
                d="1 2 3 3 2 4 4 1 2 5 1 .",
            ),
            0.743,
        ),
    ],
)
def test_alpha_is_that_of_published_examples(rows: Rows, alpha: float) -> None:
    assert round(krippendorffs_alpha(rows), 3) == alpha


def test_kappa_is_that_of_a_worked_example() -> None:
    # 20 both yes, 5 and 10 of two minds, 15 both no: 0.70 observed, 0.50 by chance.
    pairs = [("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15
    assert beyond_chance(Counter(pairs), "kappa") == pytest.approx(0.4)
    verdicts = [Verdict(str(n), "plain", 0, one, other) for n, (one, other) in enumerate(pairs)]
    figures = measure_check(verdicts)
    assert figures.agreement.value == pytest.approx(0.7)
    assert figures.kappa.value == pytest.approx(0.4)
    # The large-sample standard error is sqrt(0.7 * 0.3) / ((1 - 0.5) * sqrt(50)) = 0.130.
    assert figures.kappa.high - figures.kappa.low == pytest.approx(2 * 1.96 * 0.130, rel=0.1)


def test_where_all_is_the_same_chance_cannot_be_told() -> None:
    assert math.isnan(krippendorffs_alpha(rated(a="x x x", b="x x x")))
    assert math.isnan(krippendorffs_alpha(rated(a="x y x")))
    assert math.isnan(beyond_chance({("x", "x"): 3}, "kappa"))
    assert math.isnan(beyond_chance({}, "alpha"))


def test_kappa_is_that_of_cohens_own_example() -> None:
    # Cohen, A coefficient of agreement for nominal scales (1960): 0.70 observed, 0.41 by chance.
    table = ("88 14 18", "10 40 10", "2 6 12")
    counts = {
        (str(row), str(column)): int(often)
        for row, line in enumerate(table)
        for column, often in enumerate(line.split())
    }
    assert round(beyond_chance(counts, "kappa"), 3) == 0.492


def test_alpha_from_counts_is_alpha_from_single_answers() -> None:
    chance = random.Random(3)
    for kinds in ("ab", "abc", "abcd"):
        pairs = [(chance.choice(kinds), chance.choice(kinds)) for _ in range(30)]
        one, other = (" ".join(said) for said in zip(*pairs, strict=True))
        found = beyond_chance(Counter(pairs), "alpha")
        assert found == pytest.approx(krippendorffs_alpha(rated(one=one, other=other)))


def shown(
    said: list[str], variant: Variant = "plain", labels: list[str] | None = None, repeats: int = 3
) -> list[Verdict]:
    return [
        Verdict(str(n), variant, repeat, (labels or said)[n], one)
        for n, one in enumerate(said)
        for repeat in range(repeats)
    ]


LABELS = ["pass", "fail"] * 15


def test_a_judge_that_always_says_yes_agrees_with_half_and_with_chance() -> None:
    figures = measure_check(shown(["pass"] * 30, labels=LABELS))
    assert figures.agreement.value == 0.5
    assert figures.kappa.value == 0
    assert figures.self_agreement.value == 1
    assert figures.confusion == {"fail": {"pass": 45}, "pass": {"pass": 45}}


def test_a_random_judge_does_not_agree_with_itself_and_is_not_called_swayed() -> None:
    chance = random.Random(4)

    def at_random(variant: Variant) -> list[Verdict]:
        return [
            Verdict(str(n), variant, repeat, LABELS[n % 30], chance.choice(["pass", "fail"]))
            for n in range(200)
            for repeat in range(4)
        ]

    figures = measure_check([*at_random("plain"), *at_random("order"), *at_random("length")])
    assert figures.self_agreement.value == pytest.approx(0.5, abs=0.05)
    assert figures.kappa.low < 0 < figures.kappa.high
    assert figures.order is not None
    assert figures.order.changed.value == pytest.approx(0.5, abs=0.05)
    assert not figures.order.is_biased
    assert figures.length is not None
    assert not figures.length.is_biased


def biased(flips: int, towards: str) -> JudgeFigures:
    """A judge that is right, and changes so many verdicts when answers are padded."""
    wrong = [n for n, label in enumerate(LABELS) if label != towards][:flips]
    padded = [towards if n in wrong else label for n, label in enumerate(LABELS)]
    turned = shown(padded, "length", LABELS)
    return measure_check([*shown(LABELS), *shown(LABELS, "order"), *turned])


def test_planted_flips_are_the_figures() -> None:
    figures = biased(9, "pass")
    assert figures.agreement.value == 1
    assert figures.length is not None
    assert figures.length.changed.value == pytest.approx(0.3)
    assert figures.length.towards_pass == pytest.approx(0.3)
    assert figures.length.is_biased
    assert figures.order is not None
    assert figures.order.changed.value == 0
    assert not figures.order.is_biased
    away = biased(9, "fail").length
    assert away is not None
    assert away.towards_pass == pytest.approx(-0.3)
    assert away.is_biased
    once = biased(1, "pass").length
    assert once is not None
    assert not once.is_biased


def test_a_few_cases_prove_no_bias() -> None:
    plain, turned = shown(["pass"] * 5), shown(["fail"] * 5, "order", ["pass"] * 5)
    figures = measure_check([*plain, *turned])
    assert figures.order is not None
    assert figures.order.changed.value == 1
    assert not figures.order.is_biased


def test_verdicts_of_more_kinds_have_no_direction() -> None:
    labels = ["user", "agent", "environment"] * 4
    turned = shown(["user"] * 12, "order", labels)
    figures = measure_check([*shown(labels), *turned])
    assert figures.order is not None
    assert figures.order.towards_pass is None
    assert figures.order.changed.value == pytest.approx(2 / 3)
    assert figures.order.is_biased


def test_missing_verdicts_are_counted_and_not_wrong() -> None:
    verdicts = shown(["pass", "fail"] * 3, repeats=1)
    verdicts.append(Verdict("9", "plain", 0, "pass", None))
    figures = measure_check(verdicts)
    assert (figures.cases, figures.without_verdict, figures.agreement.value) == (6, 1, 1)
    assert math.isnan(measure_check([verdicts[-1]]).agreement.value)


def test_people_among_themselves_have_an_alpha() -> None:
    people = {str(n): ["pass", "fail"] for n in range(6)} | {"9": ["pass"]}
    figures = measure_check(shown(["pass"] * 6), people=people)
    assert figures.people_alpha is not None
    assert figures.people_alpha < 0
    assert measure_check(shown(["pass"] * 6)).people_alpha is None


def test_cases_that_people_do_not_agree_about_count_among_them() -> None:
    people = {str(n): [said, said] for n, said in enumerate(["pass", "fail"] * 4)}
    undecided = [["pass", "fail"]] * 4
    figures = measure_check(shown(["pass"] * 6), people=people, undecided=undecided)
    # Of 12 cases 4 differ; 12 of 24 labels are `pass`, so 12 of 23 differ by chance.
    assert figures.people_alpha == pytest.approx(1 - (4 / 12) / (12 / 23))
    assert figures.undecided == 4
    assert measure_check(shown(["pass"] * 6), people=people).people_alpha == 1


def test_a_judge_that_often_says_nothing_is_marked() -> None:
    answered = shown(["pass", "fail"] * 9, repeats=1)
    assert flaws([*answered, Verdict("x", "plain", 0, "pass", None)]) == []
    silent = [Verdict(f"x{n}", "plain", 0, "pass", None) for n in range(3)]
    assert flaws([*answered, *silent]) == ["gave no verdict 3 of 21 times"]
    assert flaws(silent) == ["gave no verdict"]


def flaws(verdicts: list[Verdict]) -> list[str]:
    made = datetime(2026, 1, 1, tzinfo=UTC)
    figures = measure_check(verdicts)
    return JudgeCheck(
        name="c", judge="j", checked_at=made, figures=figures, min_agreement=0.8
    ).flaws


@pytest.mark.slow
def test_intervals_of_kappa_hold_what_they_say() -> None:
    chance = random.Random(7)
    held, rounds, right = 0, 200, 0.85
    for _ in range(rounds):
        labels = [chance.choice(["pass", "fail"]) for _ in range(60)]
        said = [
            one if chance.random() < right else ("fail" if one == "pass" else "pass")
            for one in labels
        ]
        kappa = measure_check(shown(said, labels=labels, repeats=1)).kappa
        held += kappa.low <= 2 * right - 1 <= kappa.high
    assert held / rounds >= 0.92


def test_a_judge_is_known_by_kind_model_provider_and_prompt() -> None:
    key = judge_key("identify", "m", None, "p")
    assert key.startswith("judge-identify-")
    assert key == judge_key("identify", "m", None, "p")
    with_provider = judge_key("identify", "m", "openai", "p")
    assert with_provider == judge_key("identify", "openai/m", None, "p")
    others = [
        judge_key("statements", "m", None, "p"),
        judge_key("identify", "n", None, "p"),
        judge_key("identify", "m", "openai", "p"),
        judge_key("identify", "m", None, "q"),
    ]
    assert key not in others
    prompt = evaluator_prompt("llm_judge", {"model": "m", "prompt": "Right?"})
    assert prompt == evaluator_prompt("llm_judge", {"model": "n", "prompt": "Right?"})
    assert prompt != evaluator_prompt("llm_judge", {"model": "m", "prompt": "Wrong?"})


def test_with_a_single_repeat_chance_is_not_known() -> None:
    chance = random.Random(2)

    def wavering(variant: Variant) -> list[Verdict]:
        return [
            Verdict(str(n), variant, 0, LABELS[n % 30], chance.choice(["pass", "fail"]))
            for n in range(40)
        ]

    figures = measure_check([*wavering("plain"), *wavering("order")])
    assert math.isnan(figures.self_agreement.value)
    assert figures.order is not None
    assert figures.order.between_repeats is None
    assert math.isnan(figures.order.excess.value)
    assert not figures.order.is_biased


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.1, 0.3])
def test_a_noisy_judge_is_seldom_called_swayed(noise: float) -> None:
    chance = random.Random(9)

    def said(label: str) -> str:
        other = "fail" if label == "pass" else "pass"
        return other if chance.random() < noise else label

    swayed, rounds = 0, 200
    for _ in range(rounds):
        verdicts = [
            Verdict(str(n), variant, repeat, LABELS[n], said(LABELS[n]))
            for variant in ("plain", "length")
            for n in range(30)
            for repeat in range(3)
        ]
        length = measure_check(verdicts).length
        assert length is not None
        swayed += length.is_biased
    assert swayed / rounds <= 0.08
