"""The installed domains, found by entry point."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from greenroom.domains.editions import Edition, Function
from greenroom.domains.generation import TaskGenerator
from greenroom.domains.packs import DEFAULT_EDITION, Pack, pack_info
from greenroom.errors import DataError, UnknownName
from greenroom.options import Settings, check_settings
from greenroom.registry import Registry
from greenroom.util.caches import pulled_pack

if TYPE_CHECKING:
    from greenroom.domains.policy_checks import PolicyCheck
    from greenroom.domains.tasks import Party
    from greenroom.domains.tools import Toolset
    from greenroom.domains.worlds import Worlds

ENTRY_POINTS = "greenroom.domains"
DATA_VARIABLE = "GREENROOM_DATA"
TAU2 = "tau2"
"""The rules of tau2-bench."""


@dataclass(frozen=True)
class DomainPlugin:
    """A domain's tools, and the data it ships with, if it ships any."""

    name: str
    tools: Toolset | None = None
    """The agent's tools; None if all rules are those of `editions`."""
    builtin_pack: Callable[..., Pack] | None = None
    """Makes the data that it ships with; it gets the settings if the domain declares any."""
    generate: TaskGenerator | None = None
    """Makes fresh data from a seed, a number of tasks and a difficulty."""
    settings: type[BaseModel] = Settings
    """The settings that the domain takes."""
    user_tools: Toolset | None = None
    """The user's tools, in a domain where both parties act."""
    functions: Mapping[Party, Mapping[str, Function]] = field(
        default_factory=dict["Party", Mapping[str, Function]]
    )
    """What tasks may call besides tools, to set a world up and to look at it."""
    sync: Callable[[Worlds], None] | None = None
    """Keeps the parties' worlds in step."""
    policy_checks: tuple[PolicyCheck, ...] = ()
    """Rules of the policy that `tasks audit` holds ground truths against."""
    editions: Mapping[str, Callable[[BaseModel], Edition]] = field(
        default_factory=dict[str, "Callable[[BaseModel], Edition]"]
    )
    """Other rules, by the name that packs give; they get the settings."""

    def edition(self, name: str, settings: BaseModel) -> Edition:
        """The rules that a pack names; raise DataError if the domain has none of that name."""
        if name in self.editions:
            return self.editions[name](settings)
        if name == DEFAULT_EDITION and self.tools is not None:
            return Edition(
                self.tools,
                user_tools=self.user_tools,
                functions=self.functions,
                sync=self.sync,
                policy_checks=self.policy_checks,
            )
        known = [*([DEFAULT_EDITION] if self.tools is not None else []), *self.editions]
        raise DataError(
            f"The pack is for the rules '{name}', which the {self.name} domain does not have "
            f"(it has: {', '.join(known)})."
        )

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


def find_generator(domain: str) -> TaskGenerator:
    """What makes fresh tasks of a domain."""
    generate = find_plugin(domain).generate
    if generate is None:
        known = [name for name in domain_names() if find_plugin(name).generate]
        raise UnknownName("env to generate", domain, known)
    return generate


def generate_pack(domain: str, *, seed: int, tasks: int, difficulty: str | None = None) -> Pack:
    """Fresh data with that many tasks; a pure function of its arguments.

    Without a difficulty, the generator's first one holds.
    """
    return find_generator(domain)(seed, tasks, difficulty)


def find_pack(
    plugin: DomainPlugin, data: Path | str | None = None, settings: BaseModel | None = None
) -> Pack:
    """The data to use: a directory, the name of a pulled pack, or what the domain ships with."""
    settings = plugin.check(settings)
    if data is not None:
        directory = Path(data)
        if not directory.exists():
            directory = pulled_pack(str(data))
            check_pulled(directory)
        edition = plugin.edition(edition_named(directory, plugin.name), settings)
        return edition.load_pack(directory, plugin.name)
    if plugin.builtin_pack is None:
        raise DataError(
            f"The {plugin.name} domain ships without data: pass --data DIR (or set "
            f"{DATA_VARIABLE}), or run 'greenroom data import tau2 CHECKOUT' and pass --data tau2."
        )
    takes_settings = plugin.settings is not Settings
    return plugin.builtin_pack(*([settings] if takes_settings else []))


def edition_named(directory: Path, domain: str) -> str:
    """The rules that the pack in a directory is for."""
    if (directory / "pack.json").exists():
        said = pack_info(directory, []).edition
        if said != DEFAULT_EDITION:
            return said
    files = ("db.json", "db.toml")  # tau2-bench's own layout
    return TAU2 if any((directory / domain / name).exists() for name in files) else DEFAULT_EDITION


def check_pulled(directory: Path) -> None:
    """Raise DataError for a pack that an older version pulled from tau2-bench."""
    info = pack_info(directory, [])
    if info.name == TAU2 and info.edition == DEFAULT_EDITION:
        raise DataError(
            f"The pack '{directory.name}' was pulled by an older version, for other rules: run "
            "'greenroom data pull tau2 --replace'."
        )


def pack_domains(directory: Path) -> list[str]:
    """The domains that a pack directory has data for."""
    marks = ("db", "db.json", "db.toml")
    return sorted({path.parent.name for mark in marks for path in directory.glob(f"*/{mark}")})
