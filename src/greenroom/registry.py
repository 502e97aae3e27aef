"""Plug-ins of one kind: registered by entry point, or named by file or module."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any, Generic, TypeVar

from greenroom.errors import InputError, UnknownName
from greenroom.util.imports import is_target, load_module, place_of, split_target

T = TypeVar("T")


def _as_it_is(found: Any, name: str) -> None:
    """Nothing but the kind itself will do."""


def _no_advice(found: Mapping[str, Any]) -> str:
    return ""


@dataclass(frozen=True)
class Registry(Generic[T]):
    """Things of one kind, found by name."""

    group: str
    kind: type[T]
    noun: str
    """What error messages call one of them."""
    wrap: Callable[[Any, str], T | None] = _as_it_is
    """Makes one from a plain class or function of a file; None where it cannot."""
    advise: Callable[[Mapping[str, Any]], str] = _no_advice
    """What to do with what was found instead, by name."""
    _in_process: dict[str, Any] = field(default_factory=dict[str, Any])
    """Objects of this process, by the names that `name_of` gave them."""

    def names(self) -> list[str]:
        """The names of all that are installed."""
        return sorted(entry.name for entry in _installed(self.group, *sys.path))

    def name_of(self, given: Any) -> str:
        """A name that `load` finds an object by: its place in a module, or one in this process."""
        if isinstance(given, str):
            return given
        place = place_of(given)
        if place is not None:
            return place
        label = self._label(given)
        if self._taken(given, label) is None:
            raise InputError(
                f"{given!r:.200} is not usable as {self.noun}.{self.advise({'agent': given})}"
            )
        name, number = label, 1
        while self._is_taken(name, given):
            number += 1
            name = f"{label}_{number}"
        if name not in self.names():
            self._in_process[name] = given
        return name

    def _is_taken(self, name: str, given: Any) -> bool:
        """Whether a name means something else."""
        if name in self.names():
            return self.load(name) is not given
        # A cell of a notebook that runs again defines its functions again. Functions that are made
        # within others share a name, and may be used at the same time.
        again = str(getattr(given, "__qualname__", "")).isidentifier()
        return not again and self._in_process.get(name, given) is not given

    def _label(self, given: Any) -> str:
        """The name that an object has itself."""
        name = getattr(given, "name", None) or getattr(given, "__name__", "")
        return re.sub(r"[^\w-]", "", str(name)) or self.noun.replace(" ", "_")

    def load(self, name: str) -> T:
        """The one of that name, or the one that `file.py:name` or `package.module:name` means."""
        if name in self._in_process:
            found = self._taken(self._in_process[name], self._label(self._in_process[name]))
            assert found is not None  # `name_of` has checked it
            return found
        for entry in _installed(self.group, *sys.path):
            if entry.name != name:
                continue
            try:
                found = entry.load()
            except (ImportError, AttributeError) as error:
                raise InputError(
                    f"The {self.noun} '{name}' cannot be imported from {entry.value}: {error}. "
                    "Correct its package, or uninstall it."
                ) from error
            if not isinstance(found, self.kind):
                raise InputError(
                    f"The entry point '{name}' of {self.group} is no {self.kind.__name__}."
                )
            return found
        if not is_target(name):
            raise UnknownName(self.noun, name, self.names())
        source, chosen = split_target(name, self.noun)
        module = load_module(source)
        if chosen is None:
            return self._only_one(module, source)
        if not hasattr(module, chosen):
            raise UnknownName(f"{self.noun} in {source}", chosen, self._candidates(module))
        found = self._taken(getattr(module, chosen), chosen)
        if found is None:
            raise InputError(
                f"'{chosen}' of {source} is not usable as {self.noun}: it is a "
                f"{type(getattr(module, chosen)).__name__}, not a {self.kind.__name__}."
                + self.advise({chosen: getattr(module, chosen)})
            )
        return found

    def _only_one(self, module: ModuleType, source: str) -> T:
        candidates = self._candidates(module)
        if not candidates:
            raise InputError(f"There is no {self.noun} in {source}.{self.advise(vars(module))}")
        if len(candidates) > 1:
            raise InputError(
                f"There are several in {source}: write {source}:NAME with one of "
                f"{', '.join(candidates)}."
            )
        ((name, found),) = candidates.items()
        taken = self._taken(found, name)
        assert taken is not None
        return taken

    def _candidates(self, module: ModuleType) -> dict[str, Any]:
        """What a file offers: objects of the kind, or else what can be made one."""
        public = {key: one for key, one in vars(module).items() if not key.startswith("_")}
        ready = {key: one for key, one in public.items() if self._is_ready(one)}
        if ready:
            return {key: one for key, one in ready.items() if key in _first_names(ready)}
        return {
            key: one
            for key, one in public.items()
            if getattr(one, "__module__", None) == module.__name__
            and self.wrap(one, key) is not None
        }

    def _is_ready(self, one: Any) -> bool:
        """Whether it is of the kind, or has one as its strategy."""
        kinds = (one, getattr(one, "strategy", None))
        return any(isinstance(kind, self.kind) for kind in kinds) and not inspect.ismodule(one)

    def _taken(self, found: Any, name: str) -> T | None:
        return found if isinstance(found, self.kind) else self.wrap(found, name)


@cache
def _installed(group: str, *path: str) -> tuple[EntryPoint, ...]:
    # Looking through all installed packages takes longer than playing many episodes.
    return tuple(entry_points(group=group))


def maker(kind: Callable[..., Any]) -> Callable[[Any], Any]:
    """What makes an object of a class from a context, whether or not its constructor takes one."""
    takes_context = bool(inspect.signature(kind).parameters)
    return lambda context: kind(context) if takes_context else kind()


def _first_names(objects: dict[str, Any]) -> set[str]:
    """One name for each object, where some have several."""
    return set({id(one): key for key, one in reversed(objects.items())}.values())
