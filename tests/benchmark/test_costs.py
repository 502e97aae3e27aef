"""Every purse adds up: what the records say was used and paid is what the provider charged."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import anyio
import pytest
from aiohttp import web

from greenroom.benchmark import check_config, play_run, reopen_run, start_run
from greenroom.models import BudgetExhausted
from greenroom.store import RunRecord, Store, Usage, open_store
from tests.benchmark.spending import spent_so_far
from tests.models.stub_server import answer_body, running_stub

pytestmark = pytest.mark.anyio

AGENT, USER = (3e-6, 15e-6), (1.5e-7, 6e-7)
MODELS = {"agent": "the-agent", "user": "the-user"}
RATES = {"agent": AGENT, "user": USER}
TINY = 1e-9
"""Dollars: floating point is allowed this much over a run, and a cent is much more."""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def own_answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setattr("greenroom.models.retries.BASE_SECONDS", 0.001)
    monkeypatch.setattr("greenroom.trials.engine._FIRST_WAIT_SECONDS", 0.001)


@pytest.fixture
async def kept() -> AsyncGenerator[Store]:
    store = open_store()
    yield store
    store.close()


Trouble = Callable[[int], web.Response | None]
"""What becomes of a request, by its number from 1 up, instead of an answer."""


@dataclass
class Provider:
    """Talks for three turns, then passes the customer on; keeps books of its own."""

    trouble: Trouble = lambda _: None
    api_base: str = ""
    requests: Counter[str] = field(default_factory=Counter[str])
    prompt: Counter[str] = field(default_factory=Counter[str])
    completion: Counter[str] = field(default_factory=Counter[str])

    async def reply(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        asked: dict[str, Any] = json.loads(body)
        model = asked["model"]
        self.requests[model] += 1
        trouble = self.trouble(self.requests.total())
        if trouble is not None and trouble.status != 200:
            return trouble
        # Another number for every question, the same for the same one.
        drawn = sha256(body).digest()
        usage = {"prompt_tokens": 100 + drawn[0], "completion_tokens": 1 + drawn[1] % 50}
        self.prompt[model] += usage["prompt_tokens"]
        self.completion[model] += usage["completion_tokens"]
        if trouble is not None:
            return web.json_response({"choices": [], "usage": usage})
        said = sum(message["role"] == "assistant" for message in asked["messages"])
        if model == MODELS["user"] or said < 3:
            return web.json_response(answer_body(f"Line {said}.", usage=usage))
        function = {"name": "transfer_to_human_agents", "arguments": '{"summary": "s"}'}
        call = {"id": "call_1", "type": "function", "function": function}
        return web.json_response(answer_body(None, usage=usage, tool_calls=[call]))

    def books(self, purse: str) -> tuple[int, int]:
        model = MODELS[purse]
        return self.prompt[model], self.completion[model]


@asynccontextmanager
async def open_provider(trouble: Trouble = lambda _: None) -> AsyncGenerator[Provider]:
    provider = Provider(trouble)
    async with running_stub() as stub:
        stub.replies = [provider.reply]
        provider.api_base = stub.api_base
        yield provider


def prices(folder: Path, **rates: tuple[float, float]) -> str:
    path = folder / "prices.json"
    entries = {
        MODELS[purse]: {"input_cost_per_token": prompt, "output_cost_per_token": completion}
        for purse, (prompt, completion) in rates.items()
    }
    path.write_text(json.dumps(entries))
    return str(path)


def config(provider: Provider, **changes: Any) -> dict[str, Any]:
    return {
        "agent_strategy": "tool-calling",
        "model": MODELS["agent"],
        "api_base": provider.api_base,
        "user_strategy": "llm",
        "user_model": MODELS["user"],
        "user_api_base": provider.api_base,
        "end_index": 10,
        "num_trials": 3,
        "max_concurrency": 5,
        "model_retries": 10,
    } | changes


async def play(store: Store, fields: dict[str, Any]) -> RunRecord:
    run, prepared = start_run(store, check_config(fields))
    await play_run(store, run, prepared)
    return store.runs.find(run.name)


def used(store: Store, run: RunRecord, purse: str) -> list[Usage]:
    """What a purse holds in every record, attempts that came to nothing included."""
    found = [record.usage.get(purse) for record in store.runs.results(run.id)]
    found += [row.usage.get(purse) for row in store.runs.attempts(run.id)]
    return [usage for usage in found if usage is not None]


def worth(tokens: tuple[int, int], rates: tuple[float, float]) -> float:
    return tokens[0] * rates[0] + tokens[1] * rates[1]


def tokens_of(usages: list[Usage]) -> tuple[int, int]:
    return sum(u.prompt_tokens for u in usages), sum(u.completion_tokens for u in usages)


def paid(usages: list[Usage]) -> float:
    costs = [usage.cost for usage in usages if usage.cost is not None]
    assert len(costs) == len(usages), "every price is known"
    return sum(costs)


def sometimes(number: int) -> web.Response | None:
    """Faults that are charged for and faults that are not."""
    if number % 5 == 0:
        return web.Response(status=500, text="{}")
    return web.Response() if number % 7 == 0 else None


@pytest.mark.parametrize("trouble", [None, sometimes])
async def test_both_purses_add_up(kept: Store, tmp_path: Path, trouble: Trouble | None) -> None:
    listed = prices(tmp_path, agent=AGENT, user=USER)
    async with open_provider(trouble or (lambda _: None)) as provider:
        run = await play(kept, config(provider, prices=listed))
    assert run.status == "complete"
    for purse, rates in RATES.items():
        usages = used(kept, run, purse)
        assert len(usages) == run.planned
        assert tokens_of(usages) == provider.books(purse)
        assert paid(usages) == pytest.approx(worth(provider.books(purse), rates), abs=TINY)
        for usage in usages:
            held = (usage.prompt_tokens, usage.completion_tokens)
            assert usage.cost == pytest.approx(worth(held, rates), abs=TINY)
        asked = sum(usage.calls + usage.retries for usage in usages)
        assert asked == provider.requests[MODELS[purse]]
        assert (sum(usage.retries for usage in usages) > 0) is (trouble is not None)
        assert {(usage.cached_calls, usage.cached_cost) for usage in usages} == {(0, 0.0)}
    everything = sum(worth(provider.books(purse), r) for purse, r in RATES.items())
    cost, tokens = spent_so_far(kept, run)
    assert cost == pytest.approx(everything, abs=TINY)
    assert tokens == provider.prompt.total() + provider.completion.total()
    # What a record says it cost in all is the sum of its purses.
    totals = [record.cost for record in kept.runs.results(run.id)]
    assert sum(total or 0.0 for total in totals) == pytest.approx(everything, abs=TINY)


@pytest.mark.slow
@pytest.mark.parametrize("purse", ["agent", "user"])
async def test_an_unknown_price_is_none_and_never_nothing(
    kept: Store, tmp_path: Path, purse: str
) -> None:
    rates = {purse: RATES[purse]}
    async with open_provider(sometimes) as provider:
        fields = config(provider, prices=prices(tmp_path, **rates), cache=True)
        run = await play(kept, fields)
        again = await play(kept, fields)
    (other,) = set(MODELS) - {purse}
    unpriced = used(kept, run, other)
    assert {usage.cost for usage in unpriced} == {None}
    assert tokens_of(unpriced) == provider.books(other)
    known = used(kept, run, purse)
    assert paid(known) == pytest.approx(worth(provider.books(purse), RATES[purse]), abs=TINY)
    # Half a price is no price: the whole is not known.
    assert {record.cost for record in kept.runs.results(run.id)} == {None}
    assert {summary.cost for summary in kept.runs.summaries(run.id)} == {None}
    # What it would have cost is as unknown when it comes from the cache.
    assert {usage.cached_cost for usage in used(kept, again, other)} == {None}
    assert {usage.cost for usage in used(kept, again, other)} == {0.0}


@pytest.mark.slow
async def test_answers_from_the_cache_cost_nothing_again(kept: Store, tmp_path: Path) -> None:
    listed = prices(tmp_path, agent=AGENT, user=USER)
    async with open_provider(sometimes) as provider:
        fields = config(provider, prices=listed, cache=True)
        first = await play(kept, fields)
        books = {purse: provider.books(purse) for purse in MODELS}
        again = await play(kept, fields)
        assert {purse: provider.books(purse) for purse in MODELS} == books, "nothing was bought"
        more = await play(kept, fields | {"num_trials": 4})
    for purse, rates in RATES.items():
        bought, recalled = used(kept, first, purse), used(kept, again, purse)
        worthy = worth(books[purse], rates)
        assert paid(bought) == pytest.approx(worthy, abs=TINY)
        assert {(u.calls, u.cost, u.retries, tokens_of([u])) for u in recalled} == {
            (0, 0.0, 0, (0, 0))
        }
        cached = [usage.cached_cost for usage in recalled if usage.cached_cost is not None]
        assert sum(cached) == pytest.approx(worthy, abs=TINY)
        assert [u.cached_calls for u in recalled] == [u.calls for u in bought]
        # One trial more: only that one is paid for.
        new = tuple(
            after - before
            for after, before in zip(provider.books(purse), books[purse], strict=True)
        )
        assert tokens_of(used(kept, more, purse)) == new
        assert paid(used(kept, more, purse)) == pytest.approx(worth((new[0], new[1]), rates))


@pytest.mark.slow
async def test_attempts_that_break_are_paid_for(kept: Store, tmp_path: Path) -> None:
    # The provider is down for a while: episodes break in the middle and are played again.
    def down(number: int) -> web.Response | None:
        return web.Response(status=500, text="{}") if 20 <= number % 80 < 40 else None

    listed = prices(tmp_path, agent=AGENT, user=USER)
    async with open_provider(down) as provider:
        fields = config(provider, prices=listed, model_retries=1, max_retries=20)
        run = await play(kept, fields)
    attempts = kept.runs.attempts(run.id)
    assert run.status == "complete"
    assert attempts
    assert all("gave no usable answer after 1 retry" in row.error for row in attempts)
    assert sum(usage.cost or 0.0 for row in attempts for usage in row.usage.values()) > 0
    for purse, rates in RATES.items():
        usages = used(kept, run, purse)
        assert tokens_of(usages) == provider.books(purse)
        assert paid(usages) == pytest.approx(worth(provider.books(purse), rates), abs=TINY)
        assert sum(u.calls + u.retries for u in usages) == provider.requests[MODELS[purse]]


@pytest.mark.slow
async def test_what_a_stopped_run_has_cost_is_in_its_attempts(kept: Store, tmp_path: Path) -> None:
    listed = prices(tmp_path, agent=AGENT, user=USER)
    async with open_provider() as provider:
        fields = config(provider, prices=listed, max_concurrency=1)
        whole = await play(kept, fields | {"num_trials": 1})
        costs = [record.cost or 0.0 for record in kept.runs.results(whole.id)]
    limit = costs[0] + costs[1] + costs[2] / 2
    async with open_provider() as provider:
        fields |= {"max_cost": limit, "api_base": provider.api_base}
        run, prepared = start_run(kept, check_config(fields | {"user_api_base": provider.api_base}))
        with pytest.raises(BudgetExhausted):
            await play_run(kept, run, prepared)
        (attempt,) = kept.runs.attempts(run.id)
        assert (attempt.key, attempt.error) == ((2, 0), "interrupted")
        assert kept.runs.finished(run.id) == {(0, 0), (1, 0)}
        _check_total(kept, run, provider)
        assert limit <= spent_so_far(kept, run)[0] < costs[0] + costs[1] + costs[2]
        await play_run(kept, *reopen_run(kept, run.name, {"max_cost": 10.0}))
    assert kept.runs.find(run.name).status == "complete"
    assert kept.runs.attempts(run.id) == [attempt], "what was spent before stays on the books"
    _check_total(kept, run, provider)


async def test_a_cancelled_run_has_paid_for_what_was_answered(kept: Store, tmp_path: Path) -> None:
    listed = prices(tmp_path, agent=AGENT, user=USER)
    scope = anyio.CancelScope()

    def cut(number: int) -> web.Response | None:
        if number != 45:
            return None
        scope.cancel()
        return web.Response(status=500, text="{}")

    async with open_provider(cut) as provider:
        fields = config(provider, prices=listed, max_concurrency=1)
        run, prepared = start_run(kept, check_config(fields))
        with scope:
            await play_run(kept, run, prepared)
    assert scope.cancelled_caught
    (attempt,) = kept.runs.attempts(run.id)
    assert attempt.error == "interrupted"
    _check_total(kept, run, provider)


def _check_total(store: Store, run: RunRecord, provider: Provider) -> None:
    for purse, rates in RATES.items():
        usages = used(store, run, purse)
        assert tokens_of(usages) == provider.books(purse)
        assert paid(usages) == pytest.approx(worth(provider.books(purse), rates), abs=TINY)


async def test_where_nobody_says_how_many_tokens_nobody_knows_the_cost(
    kept: Store, tmp_path: Path
) -> None:
    async with running_stub() as silent:
        silent.replies = [_without_usage]
        provider = Provider(api_base=silent.api_base)
        fields = config(provider, prices=prices(tmp_path, agent=AGENT, user=USER))
        run = await play(kept, fields | {"user_strategy": "scripted", "user_model": None})
    usages = used(kept, run, "agent")
    assert {(usage.prompt_tokens, usage.cost) for usage in usages} == {(0, None)}


async def _without_usage(request: web.Request) -> web.StreamResponse:
    del request
    return web.json_response(answer_body("Hello.", usage={}))
