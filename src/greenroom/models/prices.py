"""What a call costs: by a file of your own, by litellm's table if litellm is installed, or by the
small table that ships with Greenroom.

litellm's table is a file inside its package: it is read without importing litellm.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeGuard, cast

import orjson

from greenroom.errors import DataError
from greenroom.models.endpoints import provider_of
from greenroom.models.faults import Tokens
from greenroom.models.types import ModelSettings

TABLE = "model_prices_and_context_window_backup.json"

_OPTIONAL = "cache_read_input_token_cost"
_RATES = ("input_cost_per_token", "output_cost_per_token", _OPTIONAL)
_TIER = re.compile(r"(?:input_cost_per_token|output_cost_per_token)_above_(\d+)k_tokens")


@dataclass(frozen=True, slots=True)
class Rates:
    """US dollars for one token."""

    prompt: float
    completion: float
    cached: float | None = None
    """For a token of the prompt that the provider had cached; None: as any other."""


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs; long prompts may have rates of their own."""

    rates: Rates
    tiers: tuple[tuple[int, Rates], ...] = ()
    """From more than so many tokens of prompt on, these rates for the whole call; ascending."""

    def cost(self, tokens: Tokens) -> float | None:
        """US dollars; None where the provider did not say how many tokens there were."""
        if not tokens.prompt and not tokens.completion:
            return None
        rates = self.rates
        for above, dearer in self.tiers:
            if tokens.prompt > above:
                rates = dearer
        cached = rates.prompt if rates.cached is None else rates.cached
        return (
            (tokens.prompt - tokens.cached) * rates.prompt
            + tokens.cached * cached
            + tokens.completion * rates.completion
        )


class Prices:
    """The prices of models: a file's first, then those of the tables; None where none knows it.

    A server that is named by api_base only has a price if the file gives one: what a model of the
    same name costs elsewhere says nothing about it.
    """

    def __init__(self, own: Mapping[str, Price] | None = None) -> None:
        self._own = dict(own or {})

    @classmethod
    def load(cls, path: Path | None = None) -> Prices:
        """With the prices in a file: {model: {input_cost_per_token, output_cost_per_token}}."""
        return cls(_read(path) if path else None)

    def price(self, settings: ModelSettings) -> Price | None:
        """What a model with these settings costs."""
        names = [settings.model]
        if settings.provider:
            names.insert(0, f"{settings.provider}/{settings.model}")
        for name in names:
            if name in self._own:
                return self._own[name]
        provider = provider_of(settings)
        if settings.api_base:
            return None
        return _known_price(provider, settings.model)


def _known_price(provider: str | None, model: str) -> Price | None:
    table = _table()
    if provider is None:
        return _price_of(table.get(model))
    bare = model.removeprefix(f"{provider}/")
    name = f"{provider}/{bare}"
    if not table:
        return shipped_price(name)
    if (entry := table.get(name)) is not None:
        return _price_of(entry)
    entry = table.get(bare)
    # A model of that name which somebody else offers has another price.
    if entry is None or not str(entry.get("litellm_provider", "")).startswith(provider):
        return None
    return _price_of(entry)


def shipped_price(name: str) -> Price | None:
    """The price of PROVIDER/MODEL in the table that ships with Greenroom."""
    return _price_of(shipped_prices().get(name))


@cache
def shipped_prices() -> dict[str, dict[str, Any]]:
    """What common models cost, in the form of litellm's table.

    As of November 2026, without prices that are announced to end. A test compares every row with
    litellm's table, so a new version of litellm shows which prices have changed.
    """
    return orjson.loads(files("greenroom.models").joinpath("prices.json").read_bytes())


@cache
def _table() -> dict[str, dict[str, Any]]:
    """litellm's table; empty where litellm is not installed."""
    package = find_spec("litellm")
    for place in (package.submodule_search_locations or []) if package else []:
        try:
            entries = orjson.loads((Path(place) / TABLE).read_bytes())
        except (OSError, orjson.JSONDecodeError):
            continue
        return {name: entry for name, entry in entries.items() if isinstance(entry, dict)}
    return {}


def _price_of(entry: dict[str, Any] | None) -> Price | None:
    """The price in an entry of litellm's table, where 0 stands for what nobody looked up."""
    rates = _rates(entry) if entry else None
    if entry is None or rates is None or not (rates.prompt or rates.completion):
        return None
    thousands = sorted({int(match[1]) for name in entry if (match := _TIER.fullmatch(name))})
    tiers = [(above * 1000, _rates(entry, f"_above_{above}k_tokens")) for above in thousands]
    return Price(rates, tuple((above, dearer) for above, dearer in tiers if dearer))


def _rates(entry: dict[str, Any], suffix: str = "") -> Rates | None:
    # A tier names only what it changes.
    prompt, completion, cached = (entry.get(f"{name}{suffix}", entry.get(name)) for name in _RATES)
    if not _is_price(prompt) or not _is_price(completion):
        return None
    return Rates(prompt, completion, cached if _is_price(cached) else None)


def _is_price(value: Any) -> TypeGuard[float]:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value) and value >= 0


def _read(path: Path) -> dict[str, Price]:
    try:
        content: Any = orjson.loads(path.read_bytes())
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    except orjson.JSONDecodeError as error:
        raise DataError(f"{path} is not JSON: {error}.") from error
    if not isinstance(content, dict):
        raise DataError(f"{path} holds no prices: give {{model: {{input_cost_per_token, ...}}}}.")
    entries = cast("dict[str, Any]", content)
    return {name: _own_price(path, name, entry) for name, entry in entries.items()}


def _own_price(path: Path, name: str, entry: Any) -> Price:
    if not isinstance(entry, dict):
        raise DataError(f"{path} holds no price for '{name}': give an object.")
    fields = cast("dict[str, Any]", entry)
    for field in _RATES:
        value = fields.get(field)
        if not (_is_price(value) or (value is None and field == _OPTIONAL)):
            raise DataError(
                f"{path}: '{name}' needs {field}, in US dollars for one token, as a number from 0."
            )
    rates = _rates(fields)
    assert rates is not None
    return Price(rates)
