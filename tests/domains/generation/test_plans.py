"""Plans keep to their mix, whatever the seed and the number of tasks."""

from __future__ import annotations

from collections import Counter
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from greenroom.domains.generation import Mix, draw_plans

shares = st.floats(0, 1)
weights = st.dictionaries(st.integers(0, 4), st.integers(1, 60), min_size=1)


@st.composite
def mixes(draw: st.DrawFn) -> Mix:
    refusals = draw(shares)
    return Mix(
        writes=draw(weights),
        outputs=draw(weights),
        refusals=refusals,
        pressure=draw(st.floats(0, refusals)),
        corrections=draw(shares),
        transfers=draw(shares),
        idle=draw(shares),
        lookups=draw(st.fixed_dictionaries(dict.fromkeys(range(5), weights)))
        if draw(st.booleans())
        else {},
    )


@given(mixes(), st.integers(1, 150), st.integers())
def test_plans_keep_to_their_mix(mix: Mix, count: int, seed: int) -> None:
    plans = draw_plans(Random(seed), mix, count)
    assert len(plans) == count
    assert plans == draw_plans(Random(seed), mix, count)
    total = sum(mix.writes.values())
    writes = Counter(plan.writes for plan in plans)
    for number, weight in mix.writes.items():
        assert abs(writes[number] - weight * count / total) <= 1
    assert sum(plan.refusal for plan in plans) == round(mix.refusals * count)
    assert sum(plan.pressure for plan in plans) <= round(mix.pressure * count)
    for number, named in mix.lookups.items():
        tasks = [plan.lookups for plan in plans if plan.writes == number]
        for lookups, weight in named.items():
            expected = weight * len(tasks) / sum(named.values())
            assert abs(tasks.count(lookups) - expected) <= 1
    assert mix.lookups or all(plan.lookups is None for plan in plans)
    idle = sum(not plan.writes and not plan.outputs for plan in plans)
    assert idle == min(round(mix.idle * count), writes[0], round(mix.refusals * count))
    for plan in plans:
        assert plan.writes or plan.outputs or plan.refusal, "nothing to do"
        assert plan.writes or not (plan.correction or plan.transfer)
        assert plan.refusal or not plan.pressure
        assert ("refusal" in plan.tags) == plan.refusal
