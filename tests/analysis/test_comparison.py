from __future__ import annotations

from dataclasses import replace
from math import isnan
from typing import Any

import numpy as np
import pytest

from greenroom.analysis.compared import RunComparison
from greenroom.analysis.comparison import ComparedRun, compare_runs
from greenroom.analysis.power import PowerAnalysis, observed_spread
from greenroom.store.records import Usage
from tests.analysis.counted import drawn, run

RISE = 0.25


def versus(baseline: ComparedRun, other: ComparedRun, **settings: Any) -> RunComparison:
    return compare_runs([baseline, other], **settings).comparisons[0]


def test_a_better_run() -> None:
    found = versus(run("A", ["ssff"] * 10 + ["ffff"] * 2), run("B", ["sssf"] * 10 + ["ffff"] * 2))
    assert found.verdict == "better"
    assert found.sentence == (
        "B is better than A: pass^1 0.62 against 0.42 "
        "(+0.21, 95 % interval 0.15 to 0.30, p < 0.001)."
    )
    assert (found.tasks, found.left_out) == (12, 0)
    assert found.differences[1].p_value == pytest.approx(1 / 2**10)
    assert (found.trials.both, found.trials.only_run) == (20, 10)
    assert found.trials.p_value == pytest.approx(2 / 2**10)


def test_the_same_run_is_worse_the_other_way_round() -> None:
    rows = ["ssff"] * 10 + ["ffff"] * 2, ["sssf"] * 10 + ["ffff"] * 2
    found = versus(run("B", rows[1]), run("A", rows[0]))
    assert found.verdict == "worse"
    assert found.sentence.startswith("A is worse than B: pass^1 0.42 against 0.62 (-0.21, ")


def test_too_few_trials_to_tell() -> None:
    mixed = ["sssf"] * 8 + ["sfff"] * 4 + ["ssff"] * 8
    found = versus(run("A", ["ssff"] * 20), run("B", mixed))
    assert found.verdict == "no_difference_shown"
    sensitivity = found.sensitivity
    assert sensitivity is not None
    assert sensitivity.power_to_detect < 0.8
    assert sensitivity.trials_needed is not None
    assert sensitivity.tasks_needed is not None
    assert sensitivity.trials_needed > 4
    assert sensitivity.tasks_needed > 20
    assert found.sentence.startswith("Too few trials to tell B from A: pass^1 ")
    assert " A true difference of 0.05 would have been found with " in found.sentence
    assert " For 80 % power it takes about " in found.sentence
    assert found.sentence.endswith(" trials of each of these tasks.")


def test_what_it_takes_does_not_depend_on_the_difference_seen() -> None:
    baseline = run("A", drawn([0.8] * 115, 8, "A"))
    for seed in "BCD":
        found = versus(baseline, run("B", drawn([0.8] * 115, 8, seed)))
        assert found.sensitivity is not None
        assert found.sensitivity.tasks_needed is not None
        assert 100 < found.sensitivity.tasks_needed < 180
    larger = versus(baseline, run("B", drawn([0.8] * 115, 8, "B")), detect=0.1).sensitivity
    assert larger is not None
    assert larger.detect == 0.1
    assert larger.power_to_detect > 0.99


def test_enough_trials_say_what_would_have_been_found() -> None:
    baseline = run("A", drawn([0.9] * 200, 8, "A"))
    found = versus(baseline, run("B", drawn([0.9] * 200, 8, "B")), margin=0.01)
    assert found.sentence.startswith("No difference shown between B and A: pass^1 0.")
    assert "A true difference of 0.05 would have been found with 100 % power." in found.sentence


def test_runs_that_are_equal_within_a_margin() -> None:
    baseline = run("A", drawn([0.9] * 200, 8, "A"))
    found = versus(baseline, run("B", drawn([0.9] * 200, 8, "B")))
    assert found.verdict == "equivalent"
    assert found.sentence.startswith("B and A are equal within 5 points: pass^1 0.")
    assert 0.01 < found.differences[1].within < 0.05
    # Three at once share the level.
    others = [run(name, drawn([0.9] * 200, 8, "B")) for name in "BCD"]
    for one in compare_runs([baseline, *others]).comparisons:
        assert one.differences[1].within > found.differences[1].within


def test_a_difference_that_is_sure_may_be_small() -> None:
    before = [["sssf"] * 192 + ["ssff"] * 8, ["sssf"] * 192 + ["sssf"] * 8]
    found = versus(run("A", before[0]), run("B", before[1]))
    assert found.verdict == "better"
    assert found.sentence.endswith(" The difference is less than 5 points.")


def test_what_broke_may_undo_a_difference() -> None:
    # Two equal agents; of one, trials that would fail break.
    baseline, other = ["sssf"] * 30, ["ssse"] * 30
    found = versus(run("A", baseline), run("B", other))
    assert found.differences[1].p_value < 0.001
    assert (found.verdict, found.undone, found.broken) == ("no_difference_shown", "better", 30)
    assert found.sentence.endswith(
        "B looks better without them, but the 30 episodes without a result could undo that: play "
        "them with `greenroom resume`."
    )
    back = versus(run("B", other), run("A", baseline))
    assert (back.verdict, back.undone) == ("no_difference_shown", "worse")


def test_what_broke_cannot_undo_every_difference() -> None:
    found = versus(run("A", ["ffff"] * 30), run("B", ["ssse"] + ["ssss"] * 29))
    assert (found.verdict, found.undone, found.broken) == ("better", None, 1)


def test_what_broke_may_undo_that_runs_are_equal() -> None:
    rows = ["ssss"] * 200
    whole = versus(run("A", rows), run("B", rows))
    assert whole.verdict == "equivalent"
    found = versus(run("A", rows), run("B", ["ssse"] * 100 + ["ssss"] * 100))
    assert (found.verdict, found.undone) == ("no_difference_shown", "equivalent")
    as_failures = versus(
        run("A", rows), run("B", ["ssse"] * 100 + ["ssss"] * 100), convention="errors_as_failures"
    )
    assert (as_failures.verdict, as_failures.broken) == ("worse", 0)


def test_tasks_that_broke_wholly_may_undo_a_difference() -> None:
    found = versus(run("A", ["sf"] * 20 + ["ff"] * 20), run("B", ["ss"] * 20 + ["ee"] * 20))
    assert (found.verdict, found.undone, found.broken) == ("better", None, 40)
    found = versus(run("A", ["sf"] * 10 + ["ss"] * 20), run("B", ["ss"] * 10 + ["ee"] * 20))
    assert (found.verdict, found.undone) == ("no_difference_shown", "better")


def test_no_number_of_trials_would_do() -> None:
    found = versus(run("A", ["ssss", "ffff"] * 20), run("B", ["ssss", "ffff", "ffff", "ssss"] * 10))
    assert found.sensitivity is not None
    assert found.sensitivity.trials_needed is None
    assert not found.sensitivity.more_trials_suffice
    assert "more trials of these tasks would not do, since tasks differ too much" in found.sentence


def test_one_trial_each_says_how_many_tasks() -> None:
    found = versus(run("A", ["s"] * 5 + ["f"] * 8), run("B", ["f"] * 3 + ["s"] * 10))
    assert found.sentence.endswith(" tasks like these.")
    assert "would not do" not in found.sentence


def test_tasks_that_are_equally_hard_are_hardly_ever_said_to_differ_too_much() -> None:
    said = 0
    for number in range(100):
        rows = (drawn([0.7] * 20, 4, f"{side}{number}") for side in "AB")
        first, second = ([(4, row.count("s")) for row in side] for side in rows)
        spread, _ = observed_spread(list(zip(first, second, strict=True)))
        said += not PowerAnalysis(spread).more_trials_suffice(0.05, tasks=20)
    assert said <= 5


def test_a_single_task_shows_nothing() -> None:
    found = versus(run("A", ["ssss"]), run("B", ["ssss"]))
    assert found.verdict == "no_difference_shown"
    assert "So few tasks could not have shown any." in found.sentence
    assert found.differences[1].difference.method == "exact"


def test_only_tasks_that_both_have_are_compared() -> None:
    found = versus(run("A", {1: "ss", 2: "sf", 3: "ff"}), run("B", {2: "ff", 3: "ee", 4: "ss"}))
    assert (found.tasks, found.only_baseline, found.only_run) == (1, [1, 3], [4])
    assert found.left_out == 3
    assert found.differences[1].difference.value == -0.5
    as_failures = versus(
        run("A", {1: "ss", 2: "sf", 3: "ff"}),
        run("B", {2: "ff", 3: "ee", 4: "ss"}),
        convention="errors_as_failures",
    )
    assert (as_failures.tasks, as_failures.only_baseline) == (2, [1])


def test_nothing_in_common() -> None:
    found = versus(run("A", {1: "s"}), run("B", {2: "s"}))
    assert found.sentence == "B and A have no task in common to be compared on."
    assert isnan(found.differences[1].difference.value)
    assert (found.verdict, found.sensitivity) == ("no_difference_shown", None)
    assert versus(run("A", {}), run("B", {})).tasks == 0


def test_pass_hat_k_as_deep_as_both_go() -> None:
    found = versus(run("A", ["ssssss", "sfffff"]), run("B", ["sss---", "sff---"]))
    assert {k: d.tasks for k, d in found.differences.items()} == {1: 2, 2: 2, 3: 2}
    found = versus(run("A", ["ssssss", "sfffff"]), run("B", ["ssssss", "ff----"]))
    assert {k: d.tasks for k, d in found.differences.items()} == {1: 2, 2: 2, 3: 1, 4: 1}


def test_tasks_that_flipped() -> None:
    found = versus(
        run("A", ["sssf", "ffff", "ssff", "ssss"], {1: "Never cancelled it."}),
        run("B", ["fffs", "ssss", "ffff", "sssf"], {0: "Refunded the wrong card."}),
    )
    assert [(f.task_index, f.direction, f.baseline_rate, f.rate, f.why) for f in found.flips] == [
        (0, "lost", 0.75, 0.25, "Refunded the wrong card."),
        (1, "gained", 0.0, 1.0, "Never cancelled it."),
    ]


def test_several_runs_are_held_to_more() -> None:
    rows = ["ffff"] * 5 + ["ssff"] * 6
    better = ["sfff"] * 5 + ["ssff"] * 6
    alone = versus(run("A", rows), run("B", better))
    assert (alone.verdict, alone.p_adjusted) == ("better", pytest.approx(1 / 32))
    both = compare_runs([run("A", rows), run("B", better), run("C", better)])
    for comparison in both.comparisons:
        assert comparison.verdict == "no_difference_shown"
        assert comparison.p_adjusted == pytest.approx(1 / 16)
        assert "p = 0.062, corrected for 2 comparisons" in comparison.sentence
    assert [side.label for side in both.runs] == ["A", "B", "C"]


def test_cost_stands_beside_it() -> None:
    baseline, other = run("A", {0: "ss", 1: "ss"}), run("B", {0: "ss"})
    price = {"agent": Usage(calls=1, cost=0.5)}
    dear = replace(baseline, episodes=[replace(e, usage=price) for e in _episodes(baseline)])
    cheap = {"agent": Usage(calls=1, cost=0.125)}
    less = replace(other, episodes=[replace(e, usage=cheap) for e in _episodes(other)])
    result = compare_runs([dear, less, other])
    assert [side.total_cost for side in result.runs] == [2.0, 0.25, None]
    assert [c.cost_difference for c in result.comparisons] == [-0.375, None]


def test_a_comparison_needs_two() -> None:
    with pytest.raises(ValueError, match="two"):
        compare_runs([run("A", ["s"])])


def test_it_survives_being_written_and_read() -> None:
    result = compare_runs([run("A", ["sf", "ss"]), run("B", ["ff", "ss"])])
    assert '"verdict":"no_difference_shown"' in result.model_dump_json()
    assert type(result).model_validate(result.model_dump()) == result


@pytest.mark.slow
def test_equal_agents_are_rarely_called_different() -> None:
    calls, _ = _calls(0.0)
    assert calls <= 0.075  # 5 % and what 200 repetitions leave to chance


@pytest.mark.slow
def test_a_difference_is_found_as_often_as_is_said() -> None:
    calls, stated = _calls(RISE)
    assert calls == pytest.approx(stated, abs=0.1)
    assert 0.5 < stated < 0.95


def _calls(rise: float, repetitions: int = 200) -> tuple[float, float]:
    generator = np.random.default_rng(8)
    called, stated = 0, 0.0
    for number in range(repetitions):
        chances = generator.beta(2, 4, size=20).tolist()
        raised = [min(1.0, chance + rise) for chance in chances]
        first = run("A", drawn(chances, 3, f"a{number}"))
        second = run("B", drawn(raised, 3, f"b{number}"))
        found = versus(first, second)
        called += found.verdict != "no_difference_shown"
        assert found.sensitivity is not None
        stated += _power_for(found, rise)
    return called / repetitions, stated / repetitions


def _power_for(found: RunComparison, difference: float) -> float:
    from greenroom.analysis.power import DifferenceSpread, PowerAnalysis

    assert found.sensitivity is not None
    spread = DifferenceSpread(found.sensitivity.between_tasks, found.sensitivity.within_tasks)
    return PowerAnalysis(spread).power_to_detect(difference, tasks=20, trials=3)


def _episodes(compared: ComparedRun) -> list[Any]:
    return list(compared.episodes)
