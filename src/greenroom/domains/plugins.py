"""The installed domains, found by entry point."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from greenroom.domains.packs import Pack, load_pack
from greenroom.errors import DataError, UnknownName
from greenroom.options import Settings, check_settings
from greenroom.registry import Registry
from greenroom.util.caches import pulled_pack

if TYPE_CHECKING:
    from greenroom.domains.tools import Toolset

ENTRY_POINTS = "greenroom.domains"
DATA_VARIABLE = "GREENROOM_DATA"


@dataclass(frozen=True)
class DomainPlugin:
    """A domain's tools, and the data it ships with, if it ships any."""

    name: str
    tools: Toolset
    builtin_pack: Callable[..., Pack] | None = None
    """Makes the data that it ships with; it gets the settings if the domain declares any."""
    generate: Callable[[int, int], Pack] | None = None
    """Makes fresh data from a seed and a number of tasks."""
    settings: type[BaseModel] = Settings
    """The settings that the domain takes."""

    def check(self, given: Mapping[str, Any] | BaseModel | None = None) -> BaseModel:
        """The settings for the domain; raises InputError for what is wrong."""
        owner = f"the {self.name} domain"
        return check_settings(owner, self.settings, given, option="--env-option ")


_REGISTRY = Registry(ENTRY_POINTS, DomainPlugin, "env")

domain_names = _REGISTRY.names
"""The names of all installed domains."""
name_of_plugin = _REGISTRY.name_of
"""The name of a domain that is given as an object."""
find_plugin = _REGISTRY.load
"""The domain with a name, or the one at `file.py:name` or `module:name`."""


def generate_pack(domain: str, *, seed: int, tasks: int) -> Pack:
    """Fresh data with that many tasks; a pure function of its arguments."""
    generate = find_plugin(domain).generate
    if generate is None:
        known = [name for name in domain_names() if find_plugin(name).generate]
        raise UnknownName("env to generate", domain, known)
    return generate(seed, tasks)


def find_pack(
    plugin: DomainPlugin, data: Path | str | None = None, settings: BaseModel | None = None
) -> Pack:
    """The data to use: a directory, the name of a pulled pack, or what the domain ships with."""
    if data is not None:
        directory = Path(data)
        return load_pack(directory if directory.exists() else pulled_pack(str(data)), plugin.name)
    if plugin.builtin_pack is None:
        raise DataError(
            f"The {plugin.name} domain ships without data: pass --data DIR (or set "
            f"{DATA_VARIABLE}), or run 'greenroom data pull tau2' and pass --data tau2."
        )
    takes_settings = plugin.settings is not Settings
    return plugin.builtin_pack(*([plugin.check(settings)] if takes_settings else []))
