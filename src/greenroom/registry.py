"""What is installed under a group of entry points: our own plug-ins and those of others alike."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Generic, TypeVar

from greenroom.errors import InputError, UnknownName

T = TypeVar("T")


@dataclass(frozen=True)
class Registry(Generic[T]):
    """Things of one kind, found by their name."""

    group: str
    kind: type[T]
    noun: str
    """What a name that is not known is said not to be."""

    def names(self) -> list[str]:
        """The names of all that is installed."""
        return sorted(entry.name for entry in entry_points(group=self.group))

    def load(self, name: str) -> T:
        """The one of that name."""
        for entry in entry_points(group=self.group, name=name):
            found = entry.load()
            if not isinstance(found, self.kind):
                raise InputError(
                    f"The entry point '{name}' of {self.group} is no {self.kind.__name__}."
                )
            return found
        raise UnknownName(self.noun, name, self.names())
