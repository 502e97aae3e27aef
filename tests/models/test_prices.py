"""Money: from the table, from a file, and unknown where neither knows."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from greenroom.errors import DataError
from greenroom.models import ModelSettings, Price, Prices, Rates, Tokens
from greenroom.models import prices as prices_module
from greenroom.models.prices import shipped_price, shipped_prices


def cost(settings: ModelSettings, tokens: Tokens, path: Path | None = None) -> float | None:
    price = Prices.load(path).price(settings)
    return price.cost(tokens) if price else None


def test_a_call_is_priced_by_prompt_cached_prompt_and_completion() -> None:
    tokens = Tokens(prompt=1_000_000, completion=100_000, cached=400_000)
    expected = 600_000 * 2.5e-6 + 400_000 * 1.25e-6 + 100_000 * 1e-5
    assert cost(ModelSettings(model="gpt-4o"), tokens) == pytest.approx(expected)


@pytest.mark.parametrize(
    "settings",
    [
        ModelSettings(model="gpt-4o"),
        ModelSettings(model="gpt-4o", provider="openai"),
        ModelSettings(model="openai/gpt-4o"),
        ModelSettings(model="gpt-4o", provider="azure"),
        ModelSettings(model="mistral-small-latest", provider="mistral"),
        ModelSettings(model="mistral/mistral-small-latest"),
    ],
)
def test_known_prices(settings: ModelSettings) -> None:
    assert cost(settings, Tokens(1000, 100))


@pytest.mark.parametrize(
    "settings",
    [
        ModelSettings(model="no-such-model"),
        ModelSettings(model="gpt-4o", api_base="http://localhost/v1"),
        ModelSettings(model="gpt-4o", provider="anthropic"),
        ModelSettings(model="local/qwen"),
        ModelSettings(model="gpt-4o", provider="local"),
        ModelSettings(model="llama3", provider="ollama"),
        ModelSettings(model="sample_spec"),
    ],
)
def test_an_unknown_price_is_none_and_never_nothing(settings: ModelSettings) -> None:
    assert cost(settings, Tokens(1000, 100)) is None


def test_without_a_count_of_tokens_the_cost_is_unknown() -> None:
    assert cost(ModelSettings(model="gpt-4o"), Tokens()) is None


def test_long_prompts_have_rates_of_their_own() -> None:
    price = Price(Rates(1.0, 2.0), ((200, Rates(3.0, 4.0, 0.5)),))
    assert price.cost(Tokens(200, 10)) == 220.0
    assert price.cost(Tokens(201, 10)) == 643.0
    assert price.cost(Tokens(201, 10, cached=1)) == 640.5
    tiered = Prices().price(ModelSettings(model="gemini-2.5-pro", provider="gemini"))
    assert tiered is not None
    short, long = tiered.cost(Tokens(200_000, 0)), tiered.cost(Tokens(200_001, 0))
    assert short is not None
    assert long is not None
    assert long > 1.5 * short


@pytest.mark.parametrize("name", shipped_prices())
def test_the_table_that_ships_agrees_with_litellms(name: str) -> None:
    shipped, known = shipped_price(name), Prices().price(ModelSettings(model=name))
    assert shipped is not None
    assert known is not None
    assert len(shipped.tiers) == len(known.tiers)
    for tokens in (
        Tokens(1_000_000 // 10, 1000, cached=500),
        Tokens(1_000_000, 1000),
        Tokens(1_000_000, 0, cached=900_000),
    ):
        assert shipped.cost(tokens) == pytest.approx(known.cost(tokens))


def test_prices_are_known_without_litellm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prices_module, "_table", dict[str, dict[str, Any]])
    assert cost(ModelSettings(model="gpt-4o"), Tokens(1_000_000, 0)) == pytest.approx(2.5)
    long = Tokens(300_000, 0)
    assert cost(ModelSettings(model="gemini/gemini-2.5-pro"), long) == pytest.approx(0.75)
    for unknown in (
        ModelSettings(model="mistral/mistral-small-latest"),
        ModelSettings(model="claude-opus-5"),
        ModelSettings(model="gpt-4o", provider="azure"),
        ModelSettings(model="gpt-4o", api_base="http://localhost/v1"),
    ):
        assert cost(unknown, long) is None


def test_a_file_of_prices_comes_first(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    own = {"input_cost_per_token": 1e-3, "output_cost_per_token": 2e-3}
    free = {"input_cost_per_token": 0, "output_cost_per_token": 0}
    path.write_text(
        json.dumps({"gpt-4o": own, "local/qwen": free, "azure/gpt-4o": free, "mine": own})
    )
    tokens = Tokens(1000, 100, cached=500)
    assert cost(ModelSettings(model="gpt-4o"), tokens, path) == pytest.approx(1.2)
    assert cost(ModelSettings(model="gpt-4o", provider="azure"), tokens, path) == 0.0
    assert cost(ModelSettings(model="local/qwen"), tokens, path) == 0.0
    on_a_server = ModelSettings(model="mine", api_base="http://localhost/v1")
    assert cost(on_a_server, tokens, path) == pytest.approx(1.2)
    assert cost(ModelSettings(model="gpt-4o-mini"), tokens, path) is not None


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is not JSON"),
        ("[1]", "holds no prices"),
        ({"m": 3}, "holds no price for 'm'"),
        ({"m": {"input_cost_per_token": 1}}, "'m' needs output_cost_per_token"),
        ({"m": {"input_cost_per_token": -1, "output_cost_per_token": 1}}, "needs input_cost"),
        ({"m": {"input_cost_per_token": "1", "output_cost_per_token": 1}}, "needs input_cost"),
        ({"m": {"input_cost_per_token": True, "output_cost_per_token": 1}}, "needs input_cost"),
        (
            {
                "m": {
                    "input_cost_per_token": 1,
                    "output_cost_per_token": 1,
                    "cache_read_input_token_cost": "x",
                }
            },
            "needs cache_read_input_token_cost",
        ),
    ],
)
def test_a_bad_file_is_told(tmp_path: Path, content: Any, words: str) -> None:
    path = tmp_path / "prices.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(DataError, match=words):
        Prices.load(path)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.json cannot be read"):
        Prices.load(tmp_path / "none.json")


def test_neither_litellm_nor_aiohttp_is_imported_for_prices() -> None:
    program = (
        "import sys; from greenroom.models import ModelClient, ModelSettings, Prices\n"
        "assert Prices().price(ModelSettings(model='gpt-4o'))\n"
        "ModelClient(ModelSettings(model='gpt-4o'))\n"
        "assert not {'litellm', 'aiohttp', 'sqlalchemy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
