from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest

from greenroom.domains.plugins import find_plugin
from greenroom.errors import InputError
from greenroom.judging import (
    FaultJudgement,
    failed_episodes,
    judge_episodes,
    policy_seen,
    summarise,
)
from greenroom.models import Completion, FakeModel, Model, ModelRequest, ModelUnavailable
from greenroom.models.purses import Ledger
from greenroom.reports.tau_bench import read_tau_bench
from greenroom.store import Usage
from greenroom.store.records import EpisodeRecord
from tests.analysis.episodes import cancel, episode


def verdict(author: str) -> str:
    return json.dumps({"description": "Because.", "author": author, "kind": "other"})


def failures(count: int) -> list[EpisodeRecord]:
    return [
        episode([cancel("#W1")], [cancel("#W2")], task_index=number, trial=0)
        for number in range(count)
    ]


def test_only_failures_of_the_conversation_are_judged() -> None:
    episodes = [
        *failures(2),
        episode([], [], task_index=7, reward=1.0, outcome="success"),
        episode([], [], task_index=8, reward=None, outcome="infrastructure_error", error="broken"),
    ]
    assert [one.task_index for one in failed_episodes(episodes)] == [0, 1]
    model = FakeModel([verdict("user")])
    found = anyio.run(
        lambda: judge_episodes(episodes, lambda _, ledger: ledger.model("judge", model), policy="")
    )
    assert [one.task_index for one in found] == [0, 1]


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
def test_as_many_at_a_time_as_allowed(limit: int) -> None:
    model = Busy()
    seen: list[FaultJudgement] = []
    found = anyio.run(
        lambda: judge_episodes(
            failures(12),
            lambda _, ledger: ledger.model("judge", model),
            policy="",
            max_concurrency=limit,
            on_judgement=seen.append,
        )
    )
    assert model.most == min(limit, 12)
    assert [one.task_index for one in found] == list(range(12))
    assert sorted(one.task_index for one in seen) == list(range(12))


def test_a_judge_that_fails_does_not_stop_the_others() -> None:
    def make(one: EpisodeRecord, _: Ledger) -> Model:
        if one.task_index == 1:
            return FakeModel([ModelUnavailable("gone")])
        return FakeModel([verdict("agent" if one.task_index else "user")])

    found = anyio.run(lambda: judge_episodes(failures(4), make, policy="", max_concurrency=2))
    assert [one.error for one in found] == [None, "ModelUnavailable: gone", None, None]
    summary = summarise(found)
    assert (summary.judged, summary.without_verdict) == (3, 1)
    assert list(summary.by_author.items()) == [("agent", 2), ("user", 1)]
    assert summary.by_kind == {"other": 2}


def test_what_a_person_has_to_mend_ends_it_and_keeps_what_is_there() -> None:
    def make(one: EpisodeRecord, _: Ledger) -> Model:
        return FakeModel([InputError("wrong key") if one.task_index == 2 else verdict("user")])

    seen: list[FaultJudgement] = []
    with pytest.raises(ExceptionGroup) as caught:
        anyio.run(lambda: judge_episodes(failures(5), make, policy="", on_judgement=seen.append))
    assert caught.group_contains(InputError, match="wrong key")
    assert [one.task_index for one in seen] == [0, 1]


def test_nothing_judged_adds_up_to_nothing() -> None:
    summary = summarise([])
    assert (summary.judged, summary.by_author, summary.usage) == (0, {}, Usage())


def test_the_policy_is_what_the_agent_was_told() -> None:
    messages = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi."}]
    without, told = episode([], []), episode([], [], messages=messages)
    assert policy_seen([without, told]) == "Be kind."
    assert policy_seen([without]) == ""


@pytest.mark.official
@pytest.mark.parametrize(
    ("file", "env", "count"),
    [("gpt-4o-airline.json", "airline", 116), ("gpt-4.1-mini-retail.json", "retail", None)],
)
def test_real_failures_can_be_judged(
    official_data: Path, file: str, env: str, count: int | None
) -> None:
    tools = find_plugin(env).tools
    path = official_data / "trajectories" / file
    episodes = read_tau_bench(path, write_tools=[name for name in tools if tools[name].writes])
    policy = policy_seen(episodes)
    model = FakeModel([verdict("agent")])
    found = anyio.run(
        lambda: judge_episodes(
            episodes, lambda _, ledger: ledger.model("judge", model), policy=policy
        )
    )
    failed = sum(one.reward is not None and one.reward < 1 for one in episodes)
    assert len(found) == failed == (count or failed)
    assert all(one.author == "agent" and one.kind == "other" for one in found)
    prompts = [str(request.messages[1]["content"]) for request in model.requests]
    assert all("<ground_truth_actions>" in prompt and policy[:200] in prompt for prompt in prompts)
    assert max(map(len, prompts)) < 60_000
