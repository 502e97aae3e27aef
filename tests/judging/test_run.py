from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest

from greenroom.domains.plugins import find_plugin
from greenroom.errors import InputError
from greenroom.judging import (
    JudgingConfig,
    failures_of,
    policy_seen,
    run_judging,
    start_judging,
    summarise,
)
from greenroom.models import (
    BudgetExhausted,
    Completion,
    FakeModel,
    Model,
    ModelRequest,
    ModelUnavailable,
)
from greenroom.reports.tau_bench import read_tau_bench
from greenroom.store import EpisodeRecord, JudgementRecord, RunRecord, Store, Usage, open_store
from tests.analysis.episodes import cancel, episode
from tests.judging.pools import MadeUpPool, use_models, use_pool
from tests.store.samples import sample_run


def verdict(author: str) -> str:
    return json.dumps({"description": "Because.", "author": author, "kind": "other"})


def failures(count: int) -> list[EpisodeRecord]:
    return [
        episode([cancel("#W1")], [cancel("#W2")], task_index=number, trial=0)
        for number in range(count)
    ]


@pytest.fixture
def store(any_database: str) -> Generator[Store]:
    opened = open_store()
    yield opened
    opened.close()


def stored(store: Store, episodes: Sequence[EpisodeRecord], name: str = "sample") -> RunRecord:
    run = store.runs.create(sample_run(name))
    store.runs.add(run.id, episodes)
    return run


def judge(
    store: Store, run: RunRecord, *, again: bool = False, **config: Any
) -> list[JudgementRecord]:
    fields: dict[str, Any] = {"judge_model": "wise", "max_concurrency": 1}
    wanted = JudgingConfig(**(fields | config))
    judging = start_judging(store, run, wanted, again=again)
    anyio.run(lambda: run_judging(store, judging, wanted))
    return list(store.judgings.results(judging.id))


def test_only_failures_of_the_conversation_are_judged(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    episodes = [
        *failures(2),
        episode([], [], task_index=7, reward=1.0, outcome="success"),
        episode([], [], task_index=8, reward=None, outcome="infrastructure_error", error="broken"),
    ]
    run = stored(store, episodes)
    found = failures_of(store, run.id)
    assert (found.episodes, found.keys, found.pruned) == (4, [(0, 0), (1, 0)], 0)
    use_models(monkeypatch, lambda _: FakeModel([verdict("user")]))
    assert [one.task_index for one in judge(store, run)] == [0, 1]


@dataclass
class Busy:
    """A model that takes its time, and notes how many are asked at once."""

    now: int = 0
    most: int = 0

    async def complete(self, request: ModelRequest) -> Completion:
        self.now += 1
        self.most = max(self.most, self.now)
        await anyio.sleep(0.01)
        self.now -= 1
        return Completion(message={"role": "assistant", "content": verdict("environment")})


@pytest.mark.parametrize("limit", [1, 3, 50])
def test_as_many_at_a_time_as_allowed(
    store: Store, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    model = Busy()
    use_models(monkeypatch, lambda _: model)
    found = judge(store, stored(store, failures(12)), max_concurrency=limit)
    assert 1 <= model.most <= min(limit, 12)
    assert (model.most > 1) == (limit > 1)
    assert [one.task_index for one in found] == list(range(12))


def task_of(scope: str) -> int:
    return int(scope.split()[1])


def test_a_judge_that_fails_does_not_stop_the_others(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(scope: str) -> Model:
        if task_of(scope) == 1:
            return FakeModel([ModelUnavailable("gone")])
        return FakeModel([verdict("agent" if task_of(scope) else "user")])

    use_models(monkeypatch, make)
    run = stored(store, failures(4))
    found = judge(store, run)
    assert [one.error for one in found] == [None, "ModelUnavailable: gone", None, None]
    summary = summarise(found)
    assert (summary.judged, summary.without_verdict) == (3, 1)
    assert list(summary.by_author.items()) == [("agent", 2), ("user", 1)]
    assert summary.by_kind == {"other": 2}
    # The next time, only the missing verdict is asked for.
    asked: list[int] = []

    def later(scope: str) -> Model:
        asked.append(task_of(scope))
        return FakeModel([verdict("environment")])

    use_models(monkeypatch, later)
    assert summarise(judge(store, run)).judged == 4
    assert asked == [1]
    (judging,) = store.judgings.all(parent=run.id)
    assert judging.status == "complete"
    assert Usage.total(store.judgings.usages(judging.id)).calls == 7


def test_bad_input_ends_it_and_keeps_what_is_there(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_models(
        monkeypatch,
        lambda scope: FakeModel(
            [InputError("wrong key") if task_of(scope) == 2 else verdict("user")]
        ),
    )
    run = stored(store, failures(5))
    with pytest.raises(InputError, match="wrong key"):
        judge(store, run)
    (judging,) = store.judgings.all(parent=run.id)
    assert store.judgings.finished(judging.id) == {(0, 0), (1, 0)}
    assert judging.status == "interrupted"


def test_a_budget_stops_a_judging_which_then_goes_on(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Paid:
        async def complete(self, request: ModelRequest) -> Completion:
            message = {"role": "assistant", "content": verdict("user")}
            return Completion(message=message, prompt_tokens=10, cost=0.4)

    use_pool(monkeypatch, lambda budget: MadeUpPool(lambda _: Paid(), budget))
    run = stored(store, failures(5))
    with pytest.raises(BudgetExhausted):
        judge(store, run, max_cost=1.0)
    (judging,) = store.judgings.all(parent=run.id)
    assert len(store.judgings.finished(judging.id)) == 3
    with pytest.raises(BudgetExhausted):
        judge(store, run, max_cost=1.0)  # what was spent before counts
    assert len(judge(store, run, max_cost=10.0)) == 5


def test_each_judge_has_its_own_judging_and_may_be_asked_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_models(monkeypatch, lambda _: FakeModel([verdict("user")]))
    run = stored(store, failures(2))
    judge(store, run)
    judge(store, run, judge_model="wiser", judge_model_provider="local")
    assert {one.judge for one in store.judgings.all(parent=run.id)} == {"wise", "local/wiser"}
    use_models(monkeypatch, lambda _: FakeModel([verdict("environment")]))
    assert {one.author for one in judge(store, run)} == {"user"}
    assert {one.author for one in judge(store, run, again=True)} == {"environment"}
    assert len(store.judgings.all(parent=run.id)) == 3


def test_a_judging_grows_with_its_run(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    use_models(monkeypatch, lambda _: FakeModel([verdict("user")]))
    run = stored(store, failures(1))
    assert len(judge(store, run)) == 1
    store.runs.add(run.id, failures(3))
    assert len(judge(store, run)) == 3
    assert len(store.judgings.all(parent=run.id)) == 1


def test_judgings_go_with_their_run(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    use_models(monkeypatch, lambda _: FakeModel([verdict("user")]))
    run = stored(store, failures(1))
    judge(store, run)
    store.runs.delete(run)
    assert store.judgings.all() == []


def test_nothing_judged_adds_up_to_nothing() -> None:
    summary = summarise([])
    assert (summary.judged, summary.by_author, summary.usage) == (0, {}, Usage())


def test_the_policy_is_what_the_agent_was_told() -> None:
    messages = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi."}]
    without, told = episode([], []), episode([], [], messages=messages)
    assert policy_seen([without, told]) == "Be kind."
    assert policy_seen([without]) == ""


@pytest.mark.slow
@pytest.mark.official
@pytest.mark.parametrize(
    ("file", "env", "count"),
    [("gpt-4o-airline.json", "airline", 116), ("gpt-4.1-mini-retail.json", "retail", None)],
)
def test_real_failures_can_be_judged(
    official_data: Path,
    file: str,
    env: str,
    count: int | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tools = find_plugin(env).tools
    assert tools is not None
    path = official_data / "trajectories" / file
    episodes = read_tau_bench(path, write_tools=[name for name in tools if tools[name].writes])
    assert policy_seen(episodes)
    model = FakeModel([verdict("agent")])
    use_models(monkeypatch, lambda _: model)
    store = open_store()
    found = judge(store, stored(store, episodes))
    store.close()
    failed = sum(one.reward is not None and one.reward < 1 for one in episodes)
    assert len(found) == failed == (count or failed)
    assert all(one.author == "agent" and one.kind == "other" for one in found)
    policy = "Be kind."  # the run's own
    prompts = [str(request.messages[1]["content"]) for request in model.requests]
    assert all("<ground_truth_actions>" in prompt and policy[:200] in prompt for prompt in prompts)
    assert max(map(len, prompts)) < 60_000
