"""Addresses that are no files and no URLs: each scheme has an opener of targets.

`agent:tool-calling?env=retail` is opened by the opener of `agent`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from greenroom.workflows.calls import Target

if TYPE_CHECKING:
    from greenroom.playground.state import Playground

Opener = Callable[["Playground", str], AbstractAsyncContextManager[Target]]
"""From a playground and a whole address to a target, which is open within the context.

The context is entered once for each address and left when the playground ends, both in one task, so
that it may hold task groups. What it raises when it is entered is told to the person. A call has
the session's id: each session of a thread may have a world of its own.
"""

_SCHEME = re.compile(r"([a-z][a-z0-9-]+):(?!//)")

_OPENERS: dict[str, Opener] = {}


def register_target(scheme: str, opener: Opener) -> None:
    """Have the addresses that begin with `scheme:` opened by this opener."""
    _OPENERS[scheme] = opener


def opener_of(address: str) -> Opener | None:
    """The opener of an address, if its scheme is registered."""
    found = _SCHEME.match(address)
    return _OPENERS.get(found[1]) if found else None
