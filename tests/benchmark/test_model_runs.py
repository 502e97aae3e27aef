"""Runs of agents and users that ask a model, over real HTTP: faults, budgets and the cache."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Generator, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from greenroom.analysis.metrics import measure_run
from greenroom.benchmark import check_config, play_run, reopen_run, start_run
from greenroom.benchmark.runner import RunPlan
from greenroom.domains.domain import Domain
from greenroom.model_server import FAULTS, RunningServer, ServerSettings, running_server
from greenroom.models import BudgetExhausted
from greenroom.store import EpisodeRecord, RunRecord, Store, Usage, open_store
from tests.benchmark.spending import spent_so_far
from tests.conftest import OFFICIAL_DATA
from tests.models.stub_server import Reply, answers, fails, running_stub

PRICES = {
    "oracle": {"input_cost_per_token": 2e-6, "output_cost_per_token": 8e-6},
    "user": {"input_cost_per_token": 1e-6, "output_cost_per_token": 4e-6},
}


@pytest.fixture(autouse=True)
def own_answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test sees the answers that were kept for others, nor waits long before it asks again."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setattr("greenroom.models.retries.BASE_SECONDS", 0.01)
    monkeypatch.setattr("greenroom.trials.engine._FIRST_WAIT_SECONDS", 0.01)


@pytest.fixture
def kept() -> Generator[Store]:
    """An empty store."""
    store = open_store()
    yield store
    store.close()


@pytest.fixture(scope="module")
def server(retail: Domain) -> Generator[RunningServer]:
    """The built-in tasks, without faults."""
    with running_server(retail) as running:
        yield running


@pytest.fixture
def prices(tmp_path: Path) -> str:
    path = tmp_path / "prices.json"
    path.write_text(json.dumps(PRICES))
    return str(path)


def asking(api_base: str, **changes: Any) -> dict[str, Any]:
    """A configuration in which both the agent and the user ask a model."""
    return {
        "agent_strategy": "tool-calling",
        "model": "oracle",
        "api_base": api_base,
        "user_strategy": "llm",
        "user_model": "user",
        "user_api_base": api_base,
        "end_index": 4,
        "num_trials": 2,
        "max_concurrency": 4,
    } | changes


def play(store: Store, config: dict[str, Any]) -> tuple[RunRecord, list[EpisodeRecord]]:
    """Play a run: its episodes in the order in which they ended."""
    run, prepared = start_run(store, check_config(config))
    seen: list[EpisodeRecord] = []
    anyio.run(lambda: play_run(store, run, prepared, on_result=seen.append))
    return store.runs.find(run.name), seen


def goes_on(store: Store, run: RunRecord, **changes: Any) -> None:
    reopened, prepared = reopen_run(store, run.name, changes)
    anyio.run(lambda: play_run(store, reopened, prepared))


def stopped(store: Store, config: dict[str, Any]) -> tuple[RunRecord, str]:
    """Play a run until its budget is spent: the run, and what was said."""
    run, prepared = start_run(store, check_config(config))
    with pytest.raises(BudgetExhausted) as raised:
        anyio.run(lambda: play_run(store, run, prepared))
    return store.runs.find(run.name), str(raised.value)


def purses(store: Store, run: RunRecord) -> list[Usage]:
    """Everything that a run has used, attempts that came to nothing included."""
    used = [usage for record in store.runs.results(run.id) for usage in record.usage.values()]
    return used + [usage for row in store.runs.attempts(run.id) for usage in row.usage.values()]


def added(used: Iterable[Usage]) -> Counter[str]:
    total: Counter[str] = Counter()
    for usage in used:
        total.update({name: value or 0 for name, value in usage.model_dump().items()})
    return total


# Faults


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_faults_never_become_failures(kept: Store, retail: Domain, request: Any) -> None:
    official = (OFFICIAL_DATA / "retail").is_dir()
    domain: Domain = request.getfixturevalue("official_retail") if official else retail
    trials = 4 if official else 5
    settings = ServerSettings(fault_rate=0.2, hang=30)
    with running_server(domain, settings=settings) as faulty:
        config = asking(
            faulty.api_base,
            data=str(OFFICIAL_DATA) if official else None,
            end_index=-1,
            num_trials=trials,
            max_concurrency=60,
            model_timeout=2.0,
            model_retries=6,
            max_retries=5,
        )
        run, seen = play(kept, config)
        requests, faults = faulty.stats.requests, faulty.stats.faults
    planned = [(task, trial) for task in range(len(domain.tasks())) for trial in range(trials)]
    assert len(planned) >= 460
    assert run.status == "complete"
    assert sorted((record.task_index, record.trial) for record in seen) == planned
    records = list(kept.runs.results(run.id))
    assert [(record.task_index, record.trial) for record in records] == planned
    assert {record.outcome for record in records} == {"success"}
    metrics = measure_run(
        kept.runs.summaries(run.id), task_indices=run.task_indices, num_trials=trials
    )
    figures = metrics.conventions["errors_as_failures"].pass_hat_k
    assert {k: figure.value for k, figure in figures.items()} == dict.fromkeys(
        range(1, trials + 1), 1.0
    )
    assert set(faults) == set(FAULTS)
    assert 0.15 < faults.total() / requests < 0.25
    # Nothing was asked behind our backs, and what came to nothing was asked again.
    total = added(purses(kept, run))
    spoiled = sum(faults[kind] for kind in ("wrong-tool", "bad-arguments", "empty"))
    assert total["calls"] + total["retries"] == requests
    assert total["retries"] >= faults.total() - spoiled


@pytest.mark.parametrize("strategy", ["tool-calling", "act", "react", "few-shot", "structured"])
def test_every_strategy_solves_tasks(
    kept: Store, server: RunningServer, tmp_path: Path, strategy: str
) -> None:
    examples = tmp_path / "examples.jsonl"
    examples.write_text(json.dumps({"messages_display": "Customer: hi"}) + "\n")
    options = {"few_shot_displays_path": str(examples), "num_few_shots": "1"}
    config = asking(
        server.api_base,
        agent_strategy=strategy,
        agent_options=options if strategy == "few-shot" else {},
        end_index=8,
        num_trials=1,
    )
    run, seen = play(kept, config)
    assert {record.reward for record in seen} == {1.0}
    assert all(set(record.usage) == {"agent", "user"} for record in seen)
    assert all(record.messages for record in kept.runs.results(run.id))


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (fails(400, "too long", "context_length_exceeded"), "context_window"),
        (fails(400, "This model's maximum context length is 8192 tokens."), "context_window"),
        (fails(400, "no", "content_policy_violation"), "content_filter"),
        (answers(None, finish="content_filter"), "content_filter"),
    ],
)
def test_what_a_model_cannot_or_will_not_answer(kept: Store, reply: Reply, outcome: str) -> None:
    # These are the agent's model's limits: the episode counts as not solved, and is not repeated.
    async def asked() -> int:
        async with running_stub() as stub:
            stub.replies = [reply]
            config = asking(stub.api_base, user_model=None, user_strategy="scripted")
            run, prepared = start_run(kept, check_config(config), name="declined")
            await play_run(kept, run, prepared)
            return len(stub.asked)

    assert anyio.run(asked) == 8
    run = kept.runs.find("declined")
    records = list(kept.runs.results(run.id))
    assert {(r.outcome, r.reward, r.attempts) for r in records} == {(outcome, 0.0, 1)}
    assert {r.usage["agent"].calls for r in records} == {1}
    assert kept.runs.attempts(run.id) == []
    assert run.status == "complete"


def test_what_the_users_model_will_not_answer_is_not_the_agents_failure(kept: Store) -> None:
    async def asked() -> None:
        async with running_stub() as stub:
            stub.replies = [answers(None, finish="content_filter")]
            config = asking(stub.api_base, agent_strategy="oracle", model=None, max_retries=1)
            run, prepared = start_run(kept, check_config(config), name="declined")
            await play_run(kept, run, prepared)

    anyio.run(asked)
    run = kept.runs.find("declined")
    records = list(kept.runs.results(run.id))
    assert {(r.outcome, r.reward, r.attempts) for r in records} == {
        ("infrastructure_error", None, 2)
    }
    assert run.status == "interrupted"


@pytest.mark.slow
def test_long_episodes_are_not_left_for_the_end(kept: Store, server: RunningServer) -> None:
    run, prepared = start_run(kept, check_config(asking(server.api_base, end_index=20)))
    begun: list[int] = []
    strategy, lengths = prepared.strategy, [len(t.actions) for t in prepared.domain.tasks()]

    def create(context: Any) -> Any:
        begun.append(context.task_index)
        return strategy.create(context)

    prepared = replace(prepared, strategy=replace(strategy, create=create))
    anyio.run(lambda: play_run(kept, run, prepared))
    assert sorted(begun) == sorted(list(range(20)) * 2)
    last = begun[-8:]  # two rounds of four
    assert [lengths[index] for index in last] == sorted(
        (lengths[index] for index in last), reverse=True
    )
    assert begun[:20] == list(range(20))


# Budgets


def test_a_budget_of_money_stops_the_run(kept: Store, server: RunningServer, prices: str) -> None:
    limit = 0.2
    config = asking(server.api_base, prices=prices, max_cost=limit, max_concurrency=2)
    run, said = stopped(kept, config)
    assert said.startswith("The budget of $0.20 is spent ($0.2")
    cost, _ = spent_so_far(kept, run)
    dearest = max(usage.cost or 0.0 for usage in purses(kept, run))
    assert limit <= cost <= limit + 2 * dearest
    assert run.status == "interrupted"
    done = kept.runs.finished(run.id)
    assert 0 < len(done) < run.planned

    # What is spent stays spent: the same budget plays nothing more.
    before = server.stats.requests
    with pytest.raises(BudgetExhausted):
        goes_on(kept, run)
    assert server.stats.requests == before
    assert kept.runs.finished(run.id) == done
    assert spent_so_far(kept, run)[0] == pytest.approx(cost)

    goes_on(kept, run, max_cost=100.0)
    assert kept.runs.find(run.name).status == "complete"
    assert {record.outcome for record in kept.runs.summaries(run.id)} == {"success"}
    assert len(list(kept.runs.summaries(run.id))) == run.planned
    assert spent_so_far(kept, run)[0] > cost


def test_a_budget_of_tokens_stops_the_run(kept: Store, server: RunningServer) -> None:
    config = asking(server.api_base, max_tokens_total=90_000, max_concurrency=2)
    run, said = stopped(kept, config)
    assert said.startswith("The budget of 90,000 tokens is spent (")
    assert spent_so_far(kept, run)[1] >= 90_000
    assert run.status == "interrupted"
    assert 0 < len(kept.runs.finished(run.id)) < run.planned
    goes_on(kept, run, max_tokens_total=10**9)
    assert kept.runs.find(run.name).status == "complete"
    assert len(list(kept.runs.summaries(run.id))) == run.planned


def test_an_unknown_price_does_not_count_towards_a_budget(
    kept: Store, server: RunningServer
) -> None:
    run, seen = play(kept, asking(server.api_base, max_cost=0.000001))
    assert run.status == "complete"
    assert {record.cost for record in seen} == {None}


# The cache


@pytest.mark.slow
def test_answers_come_from_the_cache(kept: Store, server: RunningServer, prices: str) -> None:
    config = asking(server.api_base, prices=prices, cache=True, num_trials=3)
    first, _ = play(kept, config)
    bought = added(purses(kept, first))
    # Three trials of a task ask the same things, and are answered on their own all the same.
    assert bought["cached_calls"] == 0
    assert bought["calls"] > 0

    before = server.stats.requests
    plans: list[RunPlan] = []
    run, prepared = start_run(kept, check_config(config))
    anyio.run(lambda: play_run(kept, run, prepared, on_plan=plans.append))
    found = added(purses(kept, run))
    assert server.stats.requests == before
    assert (found["calls"], found["cost"]) == (0, 0)
    assert found["cached_calls"] == bought["calls"]
    assert found["cached_prompt_tokens"] == bought["prompt_tokens"]
    assert found["cached_completion_tokens"] == bought["completion_tokens"]
    assert found["cached_cost"] == pytest.approx(bought["cost"])
    (plan,) = plans
    assert sum(client.counters.cache_hits for client in plan.pool.clients) == bought["calls"]
    assert spent_so_far(kept, run) == (0.0, 0)
    assert _told(kept, first) == _told(kept, run)

    # Another seed asks on its own, and so does whoever does without a cache.
    other, _ = play(kept, config | {"seed": 11})
    assert added(purses(kept, other))["cached_calls"] == 0
    without, _ = play(kept, config | {"cache": False})
    assert added(purses(kept, without))["cached_calls"] == 0
    # More trials buy what is new, and nothing else.
    more, _ = play(kept, config | {"num_trials": 4})
    total = added(purses(kept, more))
    assert total["cached_calls"] == bought["calls"]
    assert 0 < total["calls"] < bought["calls"]


def test_a_cached_answer_needs_no_budget(kept: Store, server: RunningServer, prices: str) -> None:
    config = asking(server.api_base, prices=prices, cache=True)
    play(kept, config)
    run, seen = play(kept, config | {"max_cost": 0.000001, "max_tokens_total": 1})
    assert run.status == "complete"
    assert len(seen) == run.planned


def test_trials_are_answered_on_their_own(kept: Store) -> None:
    # A model that never says the same thing twice: what a trial was told is in no other trial.
    async def heard() -> int:
        async with running_stub() as stub:
            stub.replies = [answers(f"Number {number}.") for number in range(100)]
            config = asking(
                stub.api_base, user_model=None, user_strategy="scripted", cache=True, num_trials=5
            )
            for name in ("first", "second"):
                run, prepared = start_run(kept, check_config(config), name=name)
                await play_run(kept, run, prepared)
            return len(stub.asked)

    assert anyio.run(heard) == 20
    first, second = (_told(kept, kept.runs.find(name)) for name in ("first", "second"))
    assert len(set(first.values())) == 20
    assert first == second


def _told(store: Store, run: RunRecord) -> dict[tuple[int, int], str]:
    return {(r.task_index, r.trial): json.dumps(r.messages) for r in store.runs.results(run.id)}
