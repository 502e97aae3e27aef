"""How well the checks of simulated users find faults that were planted, and how quickly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from benchmarks.measures import Measure, cpu_seconds
from benchmarks.user_audit.eighth import EIGHTH
from benchmarks.user_audit.fourth import FOURTH
from benchmarks.user_audit.held_back import held_back
from benchmarks.user_audit.seen import SEEN
from benchmarks.user_audit.seen_last import SEEN_LAST
from benchmarks.user_audit.seen_later import SEEN_LATER
from benchmarks.user_audit.seventh import SEVENTH
from benchmarks.user_audit.sixth import SIXTH
from benchmarks.user_audit.talks import Generated, generated
from benchmarks.user_audit.third import THIRD
from greenroom.audit import KINDS, findings_of

_SEEN = (SEEN, SEEN_LATER, SEEN_LAST, THIRD, FOURTH, SIXTH, SEVENTH, EIGHTH)
EACH = 240
"""Conversations with a fault of each kind, in one draw of a set of wordings."""
LEAST_PRECISION, LEAST_RECALL, MOST_MILLISECONDS = 90, 80, 5


def planted_faults() -> Iterator[Measure]:
    """Recall and precision of each check on held-back wordings; those of seen ones beside them."""
    talks = held_back(EACH)
    counts = _counts(talks)
    seen = [_counts(generated(one, seed=1, each=EACH)) for one in _SEEN]
    for kind, info in KINDS.items():
        planted, found, true, false = counts[kind]
        if not planted:
            continue
        before = ", ".join(
            f"{_percent(one[kind][1], one[kind][0]):.0f} %" for one in seen if one[kind][0]
        )
        yield Measure(
            f"User audit, {info.label.lower()}: recall of {planted} planted faults",
            f"{found} found",
            f"seen wordings {before}",
            _percent(found, planted),
            " %",
            at_least=LEAST_RECALL,
        )
        yield Measure(
            f"User audit, {info.label.lower()}: precision",
            f"{false} false",
            "",
            _percent(true, true + false),
            " %",
            at_least=LEAST_PRECISION,
        )
    seconds = cpu_seconds(lambda: [findings_of(one.talk) for one in talks])
    yield Measure(
        f"User audit, CPU time of {len(talks):,} conversations",
        f"{1_000 * seconds / len(talks):.2f} ms each",
        "",
        1_000 * seconds / len(talks),
        " ms",
        at_most=MOST_MILLISECONDS,
    )


def _counts(talks: Iterator[Generated] | list[Generated]) -> dict[str, tuple[int, int, int, int]]:
    """For each kind: planted, found of these, conversations rightly and wrongly accused of it."""
    planted, found = Counter[str](), Counter[str]()
    true, false = Counter[str](), Counter[str]()
    for one in talks:
        kinds = {finding.kind for finding in findings_of(one.talk)}
        if one.kind is not None:
            planted[one.kind] += 1
            found[one.kind] += one.kind in kinds
        for kind in kinds:
            right = kind == one.kind or kind in one.also
            (true if right else false)[kind] += 1
    return {kind: (planted[kind], found[kind], true[kind], false[kind]) for kind in KINDS}


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0


__all__ = ["planted_faults"]
