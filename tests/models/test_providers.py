"""Providers that others register."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from greenroom.cli.app import run_command
from greenroom.errors import InputError
from greenroom.models import (
    Completion,
    Fault,
    Ledger,
    ModelClient,
    ModelPool,
    ModelRequest,
    ModelSettings,
    ModelUnavailable,
    Tokens,
    open_transport,
)
from greenroom.models import transports as transports_module
from greenroom.models.direct import DirectTransport
from greenroom.models.transports import registered_providers
from tests.models.asking import QUESTION, Naps

pytestmark = pytest.mark.anyio

SOURCE = '''
from greenroom.models import Completion, Endpoint, Fault, Provider, Tokens

class Parrot:
    """Repeats what it hears, at the second attempt."""

    def __init__(self, settings):
        self.endpoint = Endpoint("Parrot", settings.model, variables=("PARROT_KEY",))
        self.settings = settings
        self.attempts = 0
        self.closed = False

    async def send(self, request):
        self.attempts += 1
        if self.attempts == 1:
            raise Fault("it was asleep", tokens=Tokens(5, 0))
        text = f"{self.settings.model}: {request.messages[-1]['content']}"
        return Completion(
            message={"role": "assistant", "content": text}, prompt_tokens=3, completion_tokens=2
        )

    async def close(self):
        self.closed = True

provider = Provider("parrot", Parrot, "a bird")
not_a_provider = "a bird"
'''


@pytest.fixture(autouse=True)
def parrot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with a provider, as if installed."""
    (tmp_path / "parrot_models.py").write_text(SOURCE)
    metadata = tmp_path / "parrot_models-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: parrot-models\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[greenroom.providers]\n"
        "parrot = parrot_models:provider\n"
        "stone = parrot_models:not_a_provider\n"
        "ghost = no_such_module:provider\n"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return tmp_path


@pytest.mark.parametrize(
    "settings",
    [
        ModelSettings(model="parrot/grey"),
        ModelSettings(model="grey", provider="parrot"),
        ModelSettings(model="grey", provider="parrot", api_base="http://localhost/v1"),
    ],
)
async def test_a_provider_is_asked_like_any_model(settings: ModelSettings) -> None:
    ledger = Ledger()
    transport: Any = open_transport(settings, "litellm")
    client = ModelClient(settings, transport=transport, retries=Naps().policy())
    completion = await client.for_episode("agent", ledger).complete(QUESTION)
    await client.close()
    assert (completion.text, completion.retries) == ("grey: hi", 1)
    used = ledger.usage()["agent"]
    assert (used.calls, used.prompt_tokens, used.completion_tokens) == (1, 8, 2)
    assert (used.cost, used.retries) == (None, 1)
    assert (transport.closed, transport.settings.timeout) == (True, 120.0)


async def test_a_pool_asks_it_too() -> None:
    async with ModelPool(timeout=5.0) as pool:
        model = pool.model(ModelSettings(model="parrot/grey"), "judge", Ledger())
        assert (await model.complete(QUESTION)).text == "grey: hi"
        assert pool.clients[0].counters.retries == 1
        assert pool.budget.tokens == 10


def test_a_server_of_ones_own_may_use_the_same_prefix() -> None:
    settings = ModelSettings(model="parrot/grey", api_base="http://localhost/v1")
    assert isinstance(open_transport(settings), DirectTransport)


def test_providers_are_listed(capsys: pytest.CaptureFixture[str], parrot: Path) -> None:
    entries = parrot / "parrot_models-1.0.dist-info/entry_points.txt"
    entries.write_text("[greenroom.providers]\nparrot = parrot_models:provider\n")
    assert {"local", "parrot"} <= {provider.name for provider in registered_providers()}
    assert run_command(["models", "list"]) == 0
    assert "Provider: parrot/MODEL (a bird)" in capsys.readouterr().out
    assert run_command(["models", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["providers"]["parrot"] == "a bird"


def test_what_is_registered_must_be_a_provider() -> None:
    with pytest.raises(InputError, match=r"'stone' of greenroom\.providers is no Provider"):
        open_transport(ModelSettings(model="stone/grey"))
    with pytest.raises(InputError, match="'ghost' cannot be imported from no_such_module:provider"):
        open_transport(ModelSettings(model="ghost/grey"))


@dataclass
class Scripted:
    """A transport that does what it is told."""

    act: Callable[[], Completion]
    endpoint: Any = None

    async def send(self, request: ModelRequest) -> Completion:
        return self.act()

    async def close(self) -> None:
        pass


def client_that(act: Callable[[], Completion], retries: int = 0) -> ModelClient:
    transport: Any = open_transport(ModelSettings(model="parrot/grey"))
    scripted = Scripted(act, transport.endpoint)
    settings = ModelSettings(model="parrot/grey")
    return ModelClient(settings, transport=scripted, retries=Naps().policy(retries))


async def test_a_broken_transport_is_not_the_callers_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARROT_KEY", "hidden-word")

    def broken() -> Completion:
        raise KeyError("hidden-word")

    model = client_that(broken).for_episode("agent", Ledger())
    with pytest.raises(ModelUnavailable, match="its transport failed: KeyError") as caught:
        await model.complete(QUESTION)
    assert "hidden-word" not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("wasted", "expected"), [(Tokens(), 0.25), (Tokens(prompt=7), None)], ids=["free", "unknown"]
)
async def test_a_provider_may_tell_the_cost(wasted: Tokens, expected: float | None) -> None:
    outcomes: list[Completion | Fault] = [
        Fault("busy", tokens=wasted),
        Completion(message={"role": "assistant", "content": "hi"}, prompt_tokens=3, cost=0.25),
    ]

    def act() -> Completion:
        outcome = outcomes.pop(0)
        if isinstance(outcome, Fault):
            raise outcome
        return outcome

    ledger = Ledger()
    await client_that(act, retries=1).for_episode("agent", ledger).complete(QUESTION)
    assert ledger.usage()["agent"].cost == expected


@pytest.mark.parametrize(
    ("settings", "wanted", "words"),
    [
        (ModelSettings(model="anthropic/claude-x"), "auto", "anthropic/claude-x is asked through"),
        (ModelSettings(model="m", api_base="http://localhost/v1"), "litellm", "m is asked through"),
        (ModelSettings(model="mystery"), "auto", "name it as PROVIDER/MODEL"),
    ],
)
def test_what_needs_litellm_names_the_extra(
    settings: ModelSettings, wanted: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(name: str) -> None:
        return None

    monkeypatch.setattr(transports_module, "find_spec", nothing)
    with pytest.raises(InputError, match=words) as caught:
        open_transport(settings, wanted)
    assert "pip install 'greenroom[litellm]'" in str(caught.value)
