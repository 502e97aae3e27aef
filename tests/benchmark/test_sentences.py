"""A model judges sentences of tasks; what it does not judge stays unjudged."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import anyio
import pytest

from greenroom.agents import find_strategy
from greenroom.benchmark import RunContext, episode_record, play_episode
from greenroom.benchmark.config import RunConfig
from greenroom.benchmark.episode import Episode
from greenroom.benchmark.sentences import SYSTEM, judged, read_verdicts, transcript
from greenroom.domains.domain import Domain, load_domain
from greenroom.domains.reward import JudgedSentence, Reward
from greenroom.domains.steps import Trajectory
from greenroom.domains.tasks import Action, Task
from greenroom.domains.tau2.grading import grade
from greenroom.domains.tau2.recorded import TrajectoryBuilder
from greenroom.models import (
    Budget,
    BudgetExhausted,
    ContextWindowExceeded,
    FakeModel,
    Ledger,
    ModelUnavailable,
)
from greenroom.models.json_answers import Unusable
from tests.benchmark.test_tau2_conformance import DATA, gold
from tests.judging.pools import MadeUpPool

TASK = 2
"""A task of retail with one sentence that counts."""


@pytest.fixture(scope="module")
def retail() -> Domain:
    return load_domain("retail", DATA)


@pytest.fixture
def task(retail: Domain) -> Task:
    task = retail.task(TASK)
    assert task.judged
    assert "judged" in task.basis
    return task


def answer(*met: bool, **more: Any) -> str:
    results = [
        {"number": number, "reason": f"because {number}", "met": one, **more}
        for number, one in enumerate(met, start=1)
    ]
    return json.dumps({"results": results})


def asked(retail: Domain, task: Task, *answers: str | Exception) -> tuple[Reward, FakeModel]:
    trajectory = gold(retail, task)
    reward = grade(retail, TASK, "base", trajectory, retail.worlds())
    model = FakeModel(list(answers))
    return anyio.run(judged, model, reward, retail, task, trajectory), model


@pytest.mark.slow
@pytest.mark.tau2_data
def test_what_the_judge_says_counts(retail: Domain, task: Task) -> None:
    count = len(task.judged)
    accepted, model = asked(retail, task, answer(*[True] * count))
    assert (accepted.value, accepted.without_judge, accepted.unjudged) == (1.0, 1.0, 0)
    assert [one.reason for one in accepted.judged] == [
        f"because {number}" for number in range(1, count + 1)
    ]
    (request,) = model.requests
    assert request.messages[0]["content"] == SYSTEM
    assert all(sentence in request.messages[1]["content"] for sentence in task.judged)
    rejected, _ = asked(retail, task, answer(*[False] * count))
    assert (rejected.value, rejected.without_judge, rejected.unjudged) == (0.0, 1.0, 0)


@pytest.mark.tau2_data
@pytest.mark.parametrize(
    "problem",
    [
        ModelUnavailable("no model"),
        BudgetExhausted("no money"),
        ContextWindowExceeded("too long"),
        "I cannot say.",
        '{"results": []}',
        answer(True) + answer(True).replace("true", "1"),
    ],
)
def test_without_a_usable_answer_nothing_is_judged(
    retail: Domain, task: Task, problem: str | Exception
) -> None:
    reward, _ = asked(retail, task, problem)
    count = len(task.judged)
    if isinstance(problem, str) and problem.startswith(answer(True)) and count == 1:
        assert reward.unjudged == 0  # the first of two answers is a usable one
        return
    assert (reward.value, reward.unjudged) == (1.0, count)
    assert all(one.met is None and one.reason.startswith("not judged: ") for one in reward.judged)


@pytest.mark.tau2_data
def test_a_judge_whose_context_is_small_is_shown_less(retail: Domain, task: Task) -> None:
    reward, model = asked(
        retail, task, ContextWindowExceeded("too long"), answer(*[True] * len(task.judged))
    )
    assert reward.unjudged == 0
    first, second = (len(request.messages[1]["content"]) for request in model.requests)
    assert second < first


@pytest.mark.tau2_data
def test_sentences_that_do_not_count_are_not_judged(retail: Domain) -> None:
    airline = load_domain("airline", DATA)
    index = next(i for i, one in enumerate(airline.tasks()) if one.judged)
    task = airline.task(index)
    trajectory = gold(airline, task)
    reward = grade(airline, index, "base", trajectory, airline.worlds())
    model = FakeModel([answer(True)])
    assert anyio.run(judged, model, reward, airline, task, trajectory) is reward
    assert model.requests == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no JSON object"),
        ("{}", "no JSON object"),
        ('{"results": 3}', "results: "),
        ('{"results": [{"number": 1, "met": "yes"}]}', "results.0.met"),
        (answer(True), "each of the 2 statements"),
        (answer(True, True, True), "each of the 2 statements"),
    ],
)
def test_answers_that_cannot_be_used(text: str, problem: str) -> None:
    with pytest.raises(Unusable, match=problem):
        read_verdicts(text, 2)


def test_verdicts_may_come_in_any_order_and_after_words() -> None:
    results = json.loads(answer(True, False))["results"]
    text = f"Let me see. {{}} {json.dumps({'results': results[::-1]})} Done."
    assert [one.met for one in read_verdicts(text, 2)] == [True, False]
    long = answer(True).replace("because 1", "x" * 10_000)
    assert len(read_verdicts(long, 1)[0].reason) == 2_000


@pytest.mark.tau2_data
def test_the_transcript_has_what_both_parties_did() -> None:
    mock = load_domain("mock", DATA)
    builder = TrajectoryBuilder()
    builder.call(Action("check_notifications", party="user"), "[]", failed=False)
    builder.say("user", "Hello")
    builder.call(Action("get_users", aside="Let me look."), "x" * 50, failed=False)
    builder.say("agent", "Done.")
    builder.say("user", "###STOP###")
    lines = list(transcript(mock, Task(), builder.trajectory, 10))
    assert lines == [
        "AGENT: Hi! How can I help you today?",
        "USER CALLS check_notifications({})",
        "RESULT: []",
        "USER: Hello",
        "AGENT (not shown to the user): Let me look.",
        "AGENT CALLS get_users({})",
        "RESULT: xxxxxxxxxx [... shortened]",
        "AGENT: Done.",
        "USER: ###STOP###",
    ]
    history = next(one for one in mock.tasks() if one.initial and one.initial.messages)
    told = list(transcript(mock, history, Trajectory(), 10))
    assert [line.partition(" ")[0] for line in told] == ["USER:", "AGENT", "RESULT:", "AGENT:"]
    assert told[1].startswith("AGENT CALLS create_task(")


def play(retail: Domain, model: FakeModel | None) -> Episode:
    config = RunConfig(judge_model=None if model is None else "judge", task_split="base")
    pool = None if model is None else MadeUpPool(lambda scope: model, Budget())
    context = RunContext(retail, find_strategy("oracle"), config, pool=pool)

    async def played() -> Episode:
        return await play_episode(context, TASK, ledger=Ledger())

    return anyio.run(played)


@pytest.mark.tau2_data
def test_an_episode_is_judged_when_it_is_over(retail: Domain, task: Task) -> None:
    for met, outcome in ((True, "success"), (False, "failure")):
        episode = play(retail, FakeModel([answer(*[met] * len(task.judged))]))
        assert episode.outcome == outcome
        assert episode.usage["judge"].calls == 1
        record = episode_record(retail, episode, split="base")
        assert record.details is not None
        assert [one.met for one in record.details.judged] == [met] * len(task.judged)
        assert (record.details.without_judge, record.details.unjudged) == (1.0, 0)


@pytest.mark.tau2_data
def test_without_a_judge_the_record_says_so(retail: Domain, task: Task) -> None:
    record = episode_record(retail, play(retail, None), split="base")
    assert record.outcome == "success"
    assert record.details is not None
    assert record.details.unjudged == len(task.judged)
    assert record.details.parts["judged"] is None


@pytest.mark.tau2_data
def test_a_rejected_sentence_outweighs_an_open_one() -> None:
    sentences = (JudgedSentence("a", met=False), JudgedSentence("b"))
    retail = load_domain("retail", DATA)
    reward = grade(retail, 0, "base", gold(retail, retail.task(0)), retail.worlds())
    both = replace(reward, judged=sentences, basis=("database", "judged"))
    assert (both.value, both.without_judge, both.unjudged) == (0.0, 1.0, 1)
