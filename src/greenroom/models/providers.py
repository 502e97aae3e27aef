"""Providers that are asked in a way of their own: plug-ins, found by entry point.

A package registers a Provider in the group `greenroom.providers`. A model's name with the prefix
`NAME/`, or the setting `provider=NAME`, selects it. Whatever it opens is asked through a
ModelClient, so it has retries, limits, cache, prices, budget and ledger like every other model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from greenroom.models.endpoints import provider_of
from greenroom.models.types import DEFAULT_TIMEOUT, ModelSettings
from greenroom.registry import Registry

if TYPE_CHECKING:
    from greenroom.models.transports import Transport

GROUP = "greenroom.providers"


@dataclass(frozen=True)
class Provider:
    """A way to some models."""

    name: str
    open: Callable[[ModelSettings], Transport]
    """Opens a model. The settings have its name without the prefix, the provider and a timeout."""
    summary: str = ""
    """What it is, for `greenroom models list`."""


def registered_providers() -> list[Provider]:
    """All registered providers."""
    return [_registry.load(name) for name in _registry.names()]


def open_registered(settings: ModelSettings) -> Transport | None:
    """The transport of the registered provider that the settings name; None if they name none."""
    name = provider_of(settings)
    if name is None or name not in _registry.names():
        return None
    bare = settings.model.removeprefix(f"{name}/")
    timeout = settings.timeout or DEFAULT_TIMEOUT
    return _registry.load(name).open(replace(settings, model=bare, provider=name, timeout=timeout))


_registry: Registry[Provider] = Registry(GROUP, Provider, "provider")
