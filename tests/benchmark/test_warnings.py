"""What a run says of itself that would mislead otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import anyio
import pytest

from greenroom.agents import Agent, AgentContext, AgentStrategy, Stage
from greenroom.analysis.errors import diagnose
from greenroom.benchmark import check_config, play_run, start_run
from greenroom.benchmark import context as contexts
from greenroom.domains.domain import Domain
from greenroom.domains.tasks import Action, InitialState, SetUpCall, Task, respond
from greenroom.reports import RunReport, build_report
from greenroom.reports.leaderboard import published_rows
from greenroom.store import Store, open_store
from tests.domains.small import small_domain
from tests.store.samples import sample_run


class Sayer:
    """Says one text and ends."""

    def __init__(self, text: str) -> None:
        self.text = text

    async def play(self, stage: Stage) -> None:
        await stage.step(respond(self.text))


def report_of(create: Callable[[AgentContext], Agent], **config: Any) -> RunReport:
    store: Store = open_store()
    fields = {"end_index": 3, "num_trials": 2, "agent_strategy": "oracle", **config}
    run, prepared = start_run(store, check_config(fields))
    strategy = AgentStrategy("own", create)
    run = run.model_copy(update={"reads_script": False})
    store.runs.update(run)
    anyio.run(partial(play_run, store, run, replace(prepared, strategy=strategy)))
    return build_report(store, store.runs.find(run.id))


def test_trials_that_are_the_same_step_by_step_are_told() -> None:
    same = report_of(lambda context: Sayer("Hello."))
    assert same.identical_tasks == 3
    assert any(
        "All trials of 3 tasks of 3 are the same, step by step" in note for note in same.notes
    )
    different = report_of(lambda context: Sayer(f"Hello {context.trial}."))
    assert different.identical_tasks == 0
    assert not any("step by step" in note for note in different.notes)


def test_trials_of_which_one_crashed_are_not_the_same() -> None:
    def create(context: AgentContext) -> Agent:
        if context.trial:
            raise KeyError("order_id")
        return Sayer("Hello.")

    assert report_of(create).identical_tasks == 0


def test_each_trial_has_a_seed_of_its_own() -> None:
    seen: list[AgentContext] = []

    def create(context: AgentContext) -> Agent:
        seen.append(context)
        return Sayer(str(context.seed))

    assert report_of(create).identical_tasks == 0
    assert len({context.seed for context in seen}) == len(seen) == 6
    assert len({context.run_seed for context in seen}) == 1


def test_a_call_written_as_text_has_its_own_kind_and_remedy() -> None:
    text = '```json\n{"name": "cancel_pending_order", "arguments": {"order_id": "#W1"}}\n```'
    report = report_of(lambda context: Sayer(text))
    assert report.errors.by_kind == {"call_as_text": 6}
    first = diagnose(report.episodes[0])
    assert first is not None
    assert first.explanation.startswith("Wrote a call of cancel_pending_order as text for the user")
    assert any("--agent-strategy act, react or structured" in note for note in report.notes)


def test_crashes_stand_in_the_first_lines() -> None:
    class Crashing(Sayer):
        async def play(self, stage: Stage) -> None:
            raise KeyError(self.text)

    report = report_of(lambda context: Crashing("order_id"))
    assert report.headline.startswith("Solved 0 %")
    assert report.notes[0] == (
        "6 episodes of 6 crashed in the agent's own code by KeyError: 'order_id'. Crashes count as "
        "failures."
    )


def test_a_set_up_that_fails_is_one_episode_without_a_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken = InitialState(calls=(SetUpCall("lose_lamp"),))
    light = (Action("light", {"lamp": "hall"}),)
    domain = small_domain(Task("x", light, id="odd", initial=broken), Task("y", light))

    def opened(*_: Any) -> Domain:
        return domain

    monkeypatch.setattr(contexts, "open_domain", opened)
    config = {"num_trials": 1, "max_retries": 0, "end_index": 2}
    report = report_of(lambda context: Sayer("Hello."), **config)
    odd, fine = report.episodes
    assert odd.outcome == "infrastructure_error"
    assert odd.error is not None
    assert odd.error.startswith("The set-up of odd fails: lamps has no function 'lose_lamp'")
    assert fine.outcome == "failure"


@pytest.mark.parametrize(
    ("task", "warning"),
    [
        (Task("  ", (Action("light", {"lamp": "hall"}),)), "No instruction for the user in task 0"),
        (Task("x", (Action("fly"),)), "task 0 calls fly, which is no tool of lamps"),
    ],
)
def test_tasks_that_are_plainly_wrong_are_told(
    task: Task, warning: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    domain: Domain = small_domain(task)
    prepare = contexts.prepare_run

    def prepared(config: Any) -> Any:
        return replace(prepare(config), domain=domain, task_indices=[0])

    monkeypatch.setattr("greenroom.benchmark.runner.prepare_run", prepared)
    store = open_store()
    run, _ = start_run(store, check_config({}))
    assert any(warning in text for text in run.warnings)
    assert any(warning in note for note in build_report(store, run).notes)


@pytest.mark.parametrize("model", ["oracle", "openai/oracle+loose", "synthetic-0.5"])
def test_scripted_models_stand_beside_no_published_row(model: str) -> None:
    fields: dict[str, Any] = {
        "task_indices": list(range(115)),
        "agent_strategy": "tool-calling",
        "official_tasks": True,
    }
    assert published_rows(sample_run(config={"model": "gpt-4o"}, **fields))
    assert published_rows(sample_run(config={"model": model}, **fields)) == []
