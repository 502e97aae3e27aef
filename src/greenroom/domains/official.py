"""Recognising Tau Bench's official test tasks, wherever they were loaded from."""

from __future__ import annotations

from hashlib import sha256

import orjson

from greenroom.domains.domain import Domain

_OFFICIAL = {
    ("retail", "test"): "4eaccf102264e00c4d3f43592d1419f03c0ec4e860bb1f7e1dc14f80d1c87910",
    ("airline", "test"): "7f8daa09e880e23256b4aeeda4b11dc49df68a08f0841c3ff1af7b852bd4ba7f",
}


def is_official(domain: Domain, split: str) -> bool:
    """Whether the split holds exactly the tasks that published results were measured on."""
    expected = _OFFICIAL.get((domain.name, split))
    return expected is not None and _digest(domain, split) == expected


def _digest(domain: Domain, split: str) -> str:
    content = [
        [task.instruction, [[a.name, dict(a.kwargs)] for a in task.actions], list(task.outputs)]
        for task in domain.tasks(split)
    ]
    return sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()
