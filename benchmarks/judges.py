"""Whether checks of judges keep what they promise, by simulation with judges that are made up.

Labels are `pass` and `fail` by chance. A judge is right with a given chance on each case, and noise
turns single verdicts round. What is to be covered is kappa over all cases of this kind; a judge
whose verdicts depend on neither order nor length is not to be called swayed, and one that passes
padded answers unread is.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from benchmarks.measures import Measure
from greenroom.analysis.judge_checks import Variant, Verdict, measure_check

REPETITIONS = 200
CASES = (20, 60)
RIGHT = (0.75, 0.95)
NOISE = (0.02, 0.3)
SWAYED, SWAYED_CASES, SWAYED_NOISE = 0.4, 60, (0.02, 0.2)


def judges() -> Iterator[Measure]:
    """Coverage of the interval of kappa, and judges that are called swayed, rightly or not."""
    for number, (cases, right) in enumerate((n, p) for n in CASES for p in RIGHT):
        chance = random.Random(number)
        held = 0
        for _ in range(REPETITIONS):
            kappa = measure_check(_verdicts(chance, cases, right, 0.0, ("plain",), 1)).kappa
            held += kappa.low <= 2 * right - 1 <= kappa.high
        share = 100 * held / REPETITIONS
        yield Measure(
            f"95 % interval of kappa holds the truth, {cases} cases, {right:.0%} right",
            f"{share:.1f} %",
            "",
            share,
            " %",
            at_least=91.0,
        )
    for number, (cases, noise) in enumerate((n, p) for n in CASES for p in NOISE):
        chance = random.Random(100 + number)
        swayed = 0
        for _ in range(REPETITIONS):
            found = measure_check(_verdicts(chance, cases, 0.9, noise, ("plain", "length"), 3))
            swayed += found.length is not None and found.length.is_biased
        share = 100 * swayed / REPETITIONS
        yield Measure(
            f"Judges called swayed that are not, {cases} cases x 3, noise {noise:.0%}",
            f"{share:.1f} %",
            "",
            share,
            " %",
            at_most=7.5,
        )

    for number, noise in enumerate(SWAYED_NOISE):
        chance = random.Random(200 + number)
        found_out = 0
        for _ in range(REPETITIONS):
            found = measure_check(_swayed(chance, SWAYED_CASES, noise, 3))
            found_out += found.length is not None and found.length.is_biased
        share = 100 * found_out / REPETITIONS
        yield Measure(
            f"Judges that pass {SWAYED:.0%} of padded answers unread are found, "
            f"{SWAYED_CASES} cases x 3, noise {noise:.0%}",
            f"{share:.1f} %",
            "",
            share,
            " %",
            at_least=85.0,
        )


def _swayed(chance: random.Random, cases: int, noise: float, repeats: int) -> Iterator[Verdict]:
    """Verdicts of a judge that is right but for noise, and passes some padded answers unread."""
    for case in range(cases):
        label = chance.choice(["pass", "fail"])
        unread = chance.random() < SWAYED
        for repeat in range(2 * repeats):
            variant: Variant = "plain" if repeat < repeats else "length"
            said = _other(label) if chance.random() < noise else label
            said = "pass" if unread and variant == "length" else said
            yield Verdict(str(case), variant, repeat % repeats, label, said)


def _verdicts(
    chance: random.Random,
    cases: int,
    right: float,
    noise: float,
    variants: tuple[Variant, ...],
    repeats: int,
) -> Iterator[Verdict]:
    for case in range(cases):
        label = chance.choice(["pass", "fail"])
        leans = label if chance.random() < right else _other(label)
        for variant in variants:
            for repeat in range(repeats):
                said = _other(leans) if chance.random() < noise else leans
                yield Verdict(str(case), variant, repeat, label, said)


def _other(verdict: str) -> str:
    return "fail" if verdict == "pass" else "pass"
