"""Seeds of cells."""

from __future__ import annotations

from hashlib import sha256


def cell_seed(seed: int, item: int, trial: int) -> int:
    """The seed of a cell: a pure function of the job's seed, the task or row, and the trial."""
    digest = sha256(f"{seed}/{item}/{trial}".encode()).digest()
    return int.from_bytes(digest[:4]) & 0x7FFFFFFF
