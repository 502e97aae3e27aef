"""Functions that build an agent from what is offered: arguments are given by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from inspect import Parameter
from typing import Any

from greenroom.errors import InputError


@dataclass(frozen=True)
class Builder:
    """A function, and which of the names on offer it takes."""

    function: Callable[..., Any]
    parameters: Mapping[str, Parameter]

    def takes(self, name: str) -> bool:
        """Whether it takes what has this name."""
        return name in self.parameters

    def has_default(self, name: str) -> bool:
        """Whether it can do without what has this name."""
        found = self.parameters.get(name)
        return found is None or found.default is not Parameter.empty

    def arguments(self, **given: Any) -> dict[str, Any]:
        """Those of the arguments that it takes. Its defaults come before what is empty."""
        return {
            name: value
            for name, value in given.items()
            if self.takes(name) and (value or not self.has_default(name))
        }


def builder_of(function: Callable[..., Any], known: Collection[str], asker: str) -> Builder:
    """A function as a builder; raises InputError if it needs something that nobody offers."""
    found: dict[str, Parameter] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name in known and parameter.kind is not Parameter.POSITIONAL_ONLY:
            found[parameter.name] = parameter
        elif parameter.default is Parameter.empty and parameter.kind not in (
            Parameter.VAR_POSITIONAL,
            Parameter.VAR_KEYWORD,
        ):
            name = getattr(function, "__name__", "the function")
            raise InputError(
                f"'{name}' takes '{parameter.name}', which {asker} does not give: it gives "
                f"{', '.join(sorted(known))}, by name."
            )
    return Builder(function, found)
