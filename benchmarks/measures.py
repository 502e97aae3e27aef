"""The measures of benchmarks, and how to take them."""

from __future__ import annotations

import os
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from greenroom.domains.domain import Domain, load_domain

OFFICIAL_DATA = Path(os.environ.get("GREENROOM_DATA") or "../shared/data/tau-bench")
TAU2_DATA = Path(os.environ.get("GREENROOM_TAU2_DATA") or "../shared/data/tau2")


@dataclass(frozen=True)
class Measure:
    """Our figure, the naive one, and the floor that `make bench CHECK=1` checks."""

    name: str
    ours: str
    naive: str
    value: float
    unit: str
    at_least: float | None = None
    at_most: float | None = None

    @property
    def holds(self) -> bool:
        """The figure is within its floor."""
        enough = self.at_least is None or self.value >= self.at_least
        return enough and (self.at_most is None or self.value <= self.at_most)

    @property
    def floor(self) -> str:
        """The floor as text."""
        if self.at_least is not None and self.at_most is not None:
            return f"{self.at_least:g} to {self.at_most:g}{self.unit}"
        if self.at_least is not None:
            return f">= {self.at_least:g}{self.unit}"
        return f"<= {self.at_most:g}{self.unit}" if self.at_most is not None else ""


def cpu_seconds(work: Callable[[], object]) -> float:
    """The CPU time of a piece of work in this process."""
    start = time.process_time()
    work()
    return time.process_time() - start


def allocated_megabytes(work: Callable[[], object]) -> float:
    """The memory that the result of a piece of work keeps allocated."""
    tracemalloc.start()
    result = work()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del result
    return size / 1e6


def retail_domain() -> tuple[Domain, str]:
    """The official retail data if it is there, else generated data of the same size."""
    if (OFFICIAL_DATA / "retail").is_dir():
        return load_domain("retail", OFFICIAL_DATA), "official retail data"
    from greenroom.domains.packs import DEFAULT_EDITION
    from greenroom.domains.plugins import generate_pack
    from greenroom.domains.retail import plugin

    edition = plugin.edition(DEFAULT_EDITION, plugin.check())
    pack = generate_pack("retail", seed=1, tasks=320, difficulty="easy")
    return Domain(edition, pack), "generated retail data"
