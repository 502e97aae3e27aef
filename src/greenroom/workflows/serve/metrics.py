"""What a server counts, in the text format of Prometheus.

Labels come from what is served, never from requests: strangers cannot make series.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from greenroom.workflows.calls import Answer

METRICS_TYPE = b"text/plain; version=0.0.4; charset=utf-8"
OTHER = "other"
"""The label of a route or a method that is none of the server's own."""
MAX_SESSIONS_COUNTED = 10_000
SECONDS_OF_SESSION = 3600.0
"""A session counts for this long after its last call."""

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
_METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "POST"})

Labels = tuple[str, ...]


@dataclass
class Histogram:
    """How long something took."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(_BUCKETS) + 1))
    total: float = 0.0

    def add(self, seconds: float) -> None:
        """Count one that took so long."""
        self.counts[bisect_left(_BUCKETS, seconds)] += 1
        self.total += seconds


@dataclass
class Metrics:
    """The counters of one server."""

    clock: Callable[[], float] = time.monotonic
    _requests: Counter[Labels] = field(default_factory=Counter[Labels])
    _request_seconds: dict[Labels, Histogram] = field(
        default_factory=lambda: defaultdict[Labels, Histogram](Histogram)
    )
    _calls: Counter[Labels] = field(default_factory=Counter[Labels])
    _call_seconds: dict[Labels, Histogram] = field(
        default_factory=lambda: defaultdict[Labels, Histogram](Histogram)
    )
    _tokens: Counter[Labels] = field(default_factory=Counter[Labels])
    _costs: dict[Labels, float] = field(default_factory=dict[Labels, float])
    _sessions: OrderedDict[str, float] = field(default_factory=OrderedDict[str, float])
    """When each was last called, the least recent first."""

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        known = method if method in _METHODS else OTHER
        self._requests[known, route, str(status)] += 1
        self._request_seconds[(route,)].add(seconds)

    def call(self, workflow: str, outcome: str, seconds: float) -> None:
        """Count a call that ended: ok, refused, failed, timeout or disconnected."""
        self._calls[workflow, outcome] += 1
        self._call_seconds[(workflow,)].add(seconds)

    def used(self, workflow: str, answer: Answer) -> None:
        """Count what an answer took, as far as it is known."""
        for kind, tokens in (
            ("prompt", answer.prompt_tokens),
            ("completion", answer.completion_tokens),
        ):
            if tokens:
                self._tokens[workflow, kind] += tokens
        if answer.cost:
            self._costs[(workflow,)] = self._costs.get((workflow,), 0.0) + answer.cost

    def session(self, identity: str) -> None:
        """Note a call of a session."""
        self._sessions[identity] = self.clock()
        self._sessions.move_to_end(identity)
        if len(self._sessions) > MAX_SESSIONS_COUNTED:
            self._sessions.popitem(last=False)

    def text(self, *, in_flight: int, stored_responses: int) -> str:
        """All of it in Prometheus's format."""
        return "\n".join([*self._lines(in_flight, stored_responses), ""])

    def _lines(self, in_flight: int, stored_responses: int) -> Iterator[str]:
        yield from _counter(
            "requests", "Requests answered.", ("method", "route", "status"), self._requests
        )
        yield from _histogram(
            "request_seconds", "Time to the end of an answer.", ("route",), self._request_seconds
        )
        yield from _counter(
            "calls", "Calls of workflows that ended.", ("workflow", "outcome"), self._calls
        )
        yield from _histogram(
            "call_seconds", "Time of a call of a workflow.", ("workflow",), self._call_seconds
        )
        yield from _gauge("calls_in_flight", "Calls that run now.", in_flight)
        yield from _gauge(
            "sessions",
            "Sessions that were called within an hour, 10000 at most.",
            self._count_sessions(),
        )
        yield from _gauge("stored_responses", "Responses that can be continued.", stored_responses)
        yield from _counter(
            "tokens", "Tokens that handlers reported.", ("workflow", "kind"), self._tokens
        )
        yield from _counter(
            "cost_dollars", "Cost that handlers reported.", ("workflow",), self._costs
        )

    def _count_sessions(self) -> int:
        oldest = self.clock() - SECONDS_OF_SESSION
        while self._sessions and next(iter(self._sessions.values())) < oldest:
            self._sessions.popitem(last=False)
        return len(self._sessions)


def _counter(name: str, about: str, names: Labels, values: Mapping[Labels, float]) -> Iterator[str]:
    yield from _head(f"{name}_total", about, "counter")
    for labels, value in values.items():
        yield f"greenroom_{name}_total{_labels(names, labels)} {value}"


def _gauge(name: str, about: str, value: float) -> Iterator[str]:
    yield from _head(name, about, "gauge")
    yield f"greenroom_{name} {value}"


def _histogram(
    name: str, about: str, names: Labels, values: Mapping[Labels, Histogram]
) -> Iterator[str]:
    yield from _head(name, about, "histogram")
    bounds = [*(f"{bound:g}" for bound in _BUCKETS), "+Inf"]
    for labels, histogram in values.items():
        count = 0
        for bound, more in zip(bounds, histogram.counts, strict=True):
            count += more
            yield f"greenroom_{name}_bucket{_labels((*names, 'le'), (*labels, bound))} {count}"
        shown = _labels(names, labels)
        yield f"greenroom_{name}_sum{shown} {histogram.total}"
        yield f"greenroom_{name}_count{shown} {count}"


def _head(name: str, about: str, kind: str) -> list[str]:
    return [f"# HELP greenroom_{name} {about}", f"# TYPE greenroom_{name} {kind}"]


def _labels(names: Labels, values: Labels) -> str:
    pairs = (f'{name}="{_escaped(value)}"' for name, value in zip(names, values, strict=True))
    return "{" + ",".join(pairs) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
