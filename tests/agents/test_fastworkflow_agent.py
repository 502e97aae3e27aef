"""The fastworkflow agent in real episodes: real workers and commands, scripted models."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from greenroom.agents import AgentContext, Stage
from greenroom.agents.fastworkflow.fastworkflow_adapter import (
    FastWorkflowAgent,
    FastWorkflowSettings,
    Production,
    open_production,
)
from greenroom.agents.fastworkflow.folders import find_workflow, package_folder
from greenroom.benchmark import check_config, play_run, start_run
from greenroom.domains.domain import Domain
from greenroom.domains.environment import Environment
from greenroom.errors import InputError
from greenroom.model_server import RunningServer, running_server
from greenroom.models import Completion, ContextWindowExceeded, ModelRequest, ModelSettings
from greenroom.models.client import ModelClient
from greenroom.models.purses import Ledger
from greenroom.reports import build_report
from greenroom.store import EpisodeRecord, open_store
from greenroom.users import ScriptedUser
from tests.agents.fastworkflow_fixtures import TrainedWorkflow, covered_tasks, in_other_words
from tests.agents.fastworkflow_probe import END, LOOK, PLAN, command, use

pytestmark = [
    pytest.mark.slow,
    pytest.mark.official,
    pytest.mark.timeout(240),
]

REJECTED = {18, 91, 108}
"""Exchanges of an item for itself, which FastWorkflow's retail workflow refuses."""


@pytest.fixture(scope="module")
def production(official_retail: Domain) -> Generator[Production]:
    """A loaded FastWorkflow, shared by the tests: loading it takes seconds."""
    production = anyio.run(open_production, *given(official_retail, intent_models="0"))
    try:
        yield production
    finally:
        production.workers.close()


@pytest.fixture(scope="module")
def server(official_retail: Domain) -> Generator[RunningServer]:
    with running_server(official_retail) as running:
        yield running


def given(domain: Domain, **options: str) -> tuple[Domain, FastWorkflowSettings, int]:
    return domain, FastWorkflowSettings.model_validate(options), 30


Play = Callable[..., list[EpisodeRecord]]


@pytest.fixture
def play(server: RunningServer, production: Production, official_data: Path) -> Play:
    """Plays a run with the shared production: the episodes by task and trial."""

    @asynccontextmanager
    async def shared(*_: object) -> AsyncGenerator[Production]:
        yield production

    def played(
        tasks: list[int],
        *,
        model: str = "oracle",
        options: dict[str, str] | None = None,
        **more: Any,
    ) -> list[EpisodeRecord]:
        config = check_config(
            {
                "agent_strategy": "fastworkflow",
                "agent_options": options or {},
                "env": "retail",
                "data": str(official_data),
                "task_ids": tasks,
                "model": model,
                "api_base": server.api_base,
                **more,
            }
        )
        store = open_store()
        run, prepared = start_run(store, config)
        prepared = replace(prepared, strategy=replace(prepared.strategy, prepare=shared))
        anyio.run(partial(play_run, store, run, prepared))
        return sorted(store.runs.results(run.id), key=lambda e: (e.task_index, e.trial))

    return played


def actions(episode: EpisodeRecord) -> list[tuple[str, dict[str, Any]]]:
    return [(s.action.name, s.action.kwargs) for s in episode.steps if s.action.name != "respond"]


def wanted(episode: EpisodeRecord) -> list[tuple[str, dict[str, Any]]]:
    return [(a.name, a.kwargs) for a in episode.task.actions if a.name != "respond"]


def test_ground_truth_is_played_action_by_action(play: Play):
    tasks = list(range(22))
    episodes = play(tasks, max_concurrency=10)
    assert [e.task_index for e in episodes] == tasks
    for episode in episodes:
        if episode.task_index in REJECTED:
            continue
        assert episode.outcome == "success", episode.task_index
        # What FastWorkflow cannot name, thinking, is left out.
        assert actions(episode) == [a for a in wanted(episode) if a[0] != "think"]
    (rejected,) = (e for e in episodes if e.task_index in REJECTED)
    assert rejected.reward == 0.0
    ((why, count),) = rejected.tallies["commands not executed"].items()
    assert "cannot exchange items for themselves" in why
    assert count == 1


def test_ten_at_once_do_what_one_at_a_time_does(play: Play):
    tasks = [0, 2, 5, 8, 12, 16, 18, 20, 25, 30]
    together, alone = play(tasks, max_concurrency=10), play(tasks, max_concurrency=1)
    for one, other in zip(together, alone, strict=True):
        assert (one.task_index, one.reward, one.outcome) == (
            other.task_index,
            other.reward,
            other.outcome,
        )
        assert one.steps == other.steps
        assert one.tallies["commands resolved"] == other.tallies["commands resolved"]


def test_trials_make_model_calls_of_their_own(play: Play, server: RunningServer):
    before = server.stats.requests
    first, second = play([1], num_trials=2, max_concurrency=1)
    assert (
        server.stats.requests - before == first.usage["agent"].calls + second.usage["agent"].calls
    )
    assert first.usage["agent"].calls == second.usage["agent"].calls > 5
    calls = first.tallies["model calls"]
    assert sum(value or 0 for value in calls.values()) == first.usage["agent"].calls
    assert set(calls) == {"planner", "agent"}


def test_decision_only_comes_to_the_same_result(play: Play):
    internal = play([0, 3, 7])
    planned = play([0, 3, 7], options={"bridge": "decision-only"})
    for one, other in zip(internal, planned, strict=True):
        assert one.reward == other.reward == 1.0
        assert actions(one) == actions(other)


@pytest.mark.parametrize(
    ("habit", "failed"), [("ask", 0), ("unknown", 1), ("missing", 1), ("garbled", 0)]
)
def test_what_goes_wrong_on_the_way_is_recovered_from(
    play: Play, server: RunningServer, habit: str, failed: int
):
    episodes = play(
        [0, 5],
        model=f"oracle+{habit}",
        user_model="user",
        user_api_base=server.api_base,
        user_strategy="llm",
    )
    for episode in episodes:
        assert episode.outcome == "success"
        assert (episode.tallies["commands resolved"].get("failed") or 0) == failed
        # Nothing that changes the shop is done twice, whatever was repeated or clarified.
        changes = [action for action in episode.steps if action.action.writes]
        assert len(changes) == sum(action.writes for action in episode.task.actions)
        turns = sum(step.action.name == "respond" for step in episode.steps)
        assert turns == (2 if habit == "ask" else 1)


def test_steps_that_run_out_end_the_episode(play: Play):
    (episode,) = play([2], max_num_steps=4)
    assert episode.outcome == "max_steps"
    assert len(episode.steps) == 4


def test_time_that_runs_out_ends_the_episode_and_its_worker(play: Play, production: Production):
    (episode,) = play([2], max_episode_seconds=0.05)
    assert episode.outcome == "max_time"
    anyio.run(_until, lambda: not _copies(production))


def test_a_worker_that_dies_is_replaced_and_its_episode_played_again(
    play: Play, production: Production, monkeypatch: pytest.MonkeyPatch
):
    answer = FastWorkflowAgent._answer  # pyright: ignore[reportPrivateUsage]
    killed: list[int] = []

    async def killing(self: FastWorkflowAgent, message: Any) -> dict[str, Any]:
        if not killed and message["role"] == "agent":
            killed.append(1)
            for pid in _worker_pids(production):
                os.kill(pid, signal.SIGKILL)
        return await answer(self, message)

    monkeypatch.setattr(FastWorkflowAgent, "_answer", killing)
    (episode,) = play([0])
    assert killed
    assert episode.outcome == "success"
    assert episode.attempts == 2


def test_a_loader_that_dies_is_started_again(play: Play, production: Production):
    loader = production.workers._loader  # pyright: ignore[reportPrivateUsage]
    assert loader is not None
    loader.kill()
    loader.wait()
    (episode,) = play([0])
    assert episode.outcome == "success"


class Own:
    """A model that answers in order and keeps its prompts."""

    def __init__(self, *replies: str | Exception) -> None:
        self.replies = list(replies)
        self.prompts: list[str] = []

    async def complete(self, request: ModelRequest) -> Completion:
        await anyio.lowlevel.checkpoint()
        self.prompts.append("\n".join(str(m["content"]) for m in request.messages))
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return Completion(message={"role": "assistant", "content": reply})


async def episode_with(
    production: Production,
    domain: Domain,
    model: Own,
    opening: str = "Hello.",
    more: tuple[str, ...] = (),
) -> tuple[FastWorkflowAgent, Environment]:
    environment = Environment(domain, ScriptedUser([*more, "###STOP###"]), max_steps=30)
    await environment.reset(0)
    environment.opening = opening
    settings = FastWorkflowSettings()
    context = AgentContext(0, 0, 10, settings=settings, model=model, shared=production)
    agent = FastWorkflowAgent(context)
    await agent.play(Stage(environment))
    return agent, environment


def test_episodes_at_once_share_nothing(production: Production, official_retail: Domain):
    # Not exact: FastWorkflow asks for clarification and remembers the words, in its own database.
    said = "[[ ## reasoning ## ]]\nr\n\n[[ ## clarified_command ## ]]\n{}\n\n"
    said += "[[ ## needs_human ## ]]\n\n\n[[ ## clarification_question ## ]]\n\n\n"
    said += "[[ ## completed ## ]]"
    names = [f"marker{number}of10" for number in range(10)]
    models = [
        Own(
            PLAN,
            command(f"look it up <order_id>#{name}</order_id>"),
            said.format(f"get_order_details <order_id>#{name}</order_id>"),
            command(f"look it up <order_id>#{name}</order_id>"),
            said.format(f"get_order_details <order_id>#{name}</order_id>"),
            *END,
        )
        for name in names
    ]
    ended: dict[str, Environment] = {}

    async def one(name: str, model: Own) -> None:
        _, ended[name] = await episode_with(production, official_retail, model, f"I am {name}.")

    async def all_at_once() -> None:
        async with anyio.create_task_group() as group:
            for name, model in zip(names, models, strict=True):
                group.start_soon(one, name, model)

    anyio.run(all_at_once)
    for name, model in zip(names, models, strict=True):
        assert [s.action.kwargs.get("order_id") for s in ended[name].steps[:2]] == [f"#{name}"] * 2
        others = [other for other in names if other != name]
        assert name in "".join(model.prompts)
        assert not any(other in prompt for prompt in model.prompts for other in others)


def test_the_policy_is_before_planner_and_agent(production: Production, official_retail: Domain):
    model = Own(PLAN, command(LOOK), *END)
    anyio.run(episode_with, production, official_retail, model)
    first_rule = official_retail.policy.strip().splitlines()[0]
    assert all(first_rule in prompt for prompt in model.prompts[:3])


def test_a_user_who_begins_with_a_slash_still_talks_to_the_agent(
    production: Production, official_retail: Domain
):
    model = Own(PLAN, *END)
    agent, environment = anyio.run(
        episode_with, production, official_retail, model, "/what_can_i_do"
    )
    assert [s.action.name for s in environment.steps] == ["respond"]
    assert agent.messages[-2]["content"] == "All is done."


def test_replies_that_never_parse_end_the_episode_as_invalid_without_a_step_made_twice(
    production: Production, official_retail: Domain
):
    cancel = (
        "cancel_pending_order <order_id>#W9911714</order_id> "
        "<reason>it is no longer wanted</reason>"
    )
    again = [PLAN, command(cancel), "?!", "?!", command(cancel), "?!", "?!"]
    model = Own(*again, *again, *again)
    agent, environment = anyio.run(episode_with, production, official_retail, model)
    assert [s.action.name for s in environment.steps] == ["cancel_pending_order"]
    assert not environment.over
    assert "gave up" in agent.messages[-1]["content"]


def test_an_answer_to_a_question_survives_a_garbled_reply(
    production: Production, official_retail: Domain
):
    model = Own(
        *(PLAN, use("ask_user", clarification_request="Which order?")),
        *(PLAN, "?!", "?!", PLAN, command(LOOK), *END),
    )
    _, environment = anyio.run(
        episode_with, production, official_retail, model, "Help me.", ("Number one.",)
    )
    assert [s.action.name for s in environment.steps] == [
        *("respond", "get_order_details", "respond")
    ]
    assert "Which order?" in model.prompts[5]
    assert "Number one." in model.prompts[5]


def test_a_conversation_that_no_longer_fits_is_shortened_and_then_given_up(
    production: Production, official_retail: Domain
):
    too_long = [ContextWindowExceeded("too long") for _ in range(40)]
    model = Own(PLAN, command(LOOK), command(LOOK), *too_long)
    with pytest.raises(ContextWindowExceeded):
        anyio.run(episode_with, production, official_retail, model)


def test_ten_workers_together_take_little_memory(production: Production):
    measured: list[float] = []

    async def ten_at_once() -> None:
        async with anyio.create_task_group() as group:
            ready: list[int] = []
            done = anyio.Event()

            async def one() -> None:
                async with production.workers.worker() as worker:
                    await worker.send(**_start(production))
                    await worker.receive()
                    ready.append(worker.pid)
                    await done.wait()

            for _ in range(10):
                group.start_soon(one)
            await _until(lambda: len(ready) == 10)
            loader = production.workers._loader  # pyright: ignore[reportPrivateUsage]
            assert loader is not None
            measured.append(sum(_pss(pid) for pid in [loader.pid, *ready]))
            done.set()

    anyio.run(ten_at_once)
    assert 0.2e9 < measured[0] < 2.5e9


def test_a_workflow_without_a_tool_is_refused_before_any_model_is_asked(
    official_retail: Domain, server: RunningServer, tmp_path: Path
):
    import shutil

    shutil.copytree(find_workflow("retail"), tmp_path / "mine")
    (tmp_path / "mine/_commands/calculate.py").unlink()
    before = server.stats.requests
    options = {"workflow_path": str(tmp_path / "mine"), "intent_models": "0"}
    with pytest.raises(InputError, match="The workflow mine has no command for calculate"):
        anyio.run(open_production, *given(official_retail, **options))
    assert server.stats.requests == before
    assert not any(path.name.startswith("___") for path in (tmp_path / "mine").iterdir())


def test_trained_intent_models_understand_commands_in_other_words(
    retail: Domain,
    server: RunningServer,
    trained_retail: TrainedWorkflow,
    monkeypatch: pytest.MonkeyPatch,
):
    trained_retail.use(monkeypatch)
    options = {"workflow_path": str(trained_retail.path), "partial": "1"}
    production = anyio.run(open_production, *given(retail, **options))
    tasks = covered_tasks(retail)[:6]
    assert len(tasks) == 6
    played: dict[int, tuple[FastWorkflowAgent, Environment]] = {}

    async def one(index: int) -> None:
        wanted = retail.task(index).actions
        commands = [command(in_other_words(action)) for action in wanted]
        outputs = " ".join(retail.task(index).outputs)
        answer = END[1].replace("All is done.", f"All is done. {outputs}")
        model = Own(PLAN, *commands, END[0], answer, END[2])
        environment = Environment(retail, ScriptedUser(), max_steps=30)
        await environment.reset(index)
        # Where a value looks like one of FastWorkflow's examples, a model is asked for it.
        client = ModelClient(ModelSettings(model="oracle", api_base=server.api_base))
        extraction = client.for_episode("agent", Ledger())
        context = AgentContext(
            *(index, 0, 10),
            settings=FastWorkflowSettings(),
            model=model,
            shared=production,
            role_models={"extraction": extraction},
        )
        agent = FastWorkflowAgent(context)
        await agent.play(Stage(environment))
        await client.close()
        played[index] = agent, environment

    async def all_at_once() -> None:
        async with anyio.create_task_group() as group:
            for index in tasks:
                group.start_soon(one, index)

    try:
        assert production.facts["intent models"] == "trained"
        anyio.run(all_at_once)
    finally:
        production.workers.close()
    for index, (agent, environment) in played.items():
        wanted = [(action.name, action.kwargs) for action in retail.task(index).actions]
        made = [(step.action.name, step.action.kwargs) for step in environment.steps]
        assert made[:-1] == wanted
        assert environment.reward is not None
        assert environment.reward.value == 1.0
        resolved = agent.tallies["commands resolved"]
        assert set(resolved) <= {"intent model", "parameter extraction"}
        assert (resolved["intent model"] or 0) > 0


def test_a_run_says_what_it_was_and_leaves_no_trace(server: RunningServer, official_data: Path):
    store = open_store()
    package = package_folder()
    before = _listing(package)
    config = check_config(
        {
            "agent_strategy": "fastworkflow",
            "agent_options": {"planner_model": "openai/oracle", "intent_models": "0"},
            "data": str(official_data),
            "task_ids": [0],
            "model": "oracle",
            "api_base": server.api_base,
        }
    )
    run, prepared = start_run(store, config)
    anyio.run(partial(play_run, store, run, prepared))
    report = build_report(store, store.runs.find(run.name))
    assert report.agent_facts["FastWorkflow"][0].startswith("2.30")
    assert report.agent_facts["intent models"] == ["none: only exact command names are understood"]
    assert report.agent_tallies["commands resolved"]["exact"]
    assert set(report.agent_tallies["model cost"]) >= {"planner", "agent"}
    assert report.metrics.main.pass_hat_k[1].value == 1.0
    assert _listing(package) == before, "nothing is written into the installed package"


def _start(production: Production) -> dict[str, Any]:
    return {
        "session": "a",
        "policy": "Be kind.",
        "tool_infos": production.tool_infos,
        "tool_map": {},
        "decision_only": False,
        "reasoning": True,
        "trained": False,
        "max_iterations": 30,
    }


def _pss(pid: int) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(1024.0 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def _worker_pids(production: Production) -> list[int]:
    loader = production.workers._loader  # pyright: ignore[reportPrivateUsage]
    assert loader is not None
    children = Path(f"/proc/{loader.pid}/task/{loader.pid}/children").read_text()
    return [int(pid) for pid in children.split()]


def _copies(production: Production) -> list[str]:
    name = production.workers.workflow
    folder = production.workers.folder / "workflows"
    return [path.name for path in folder.iterdir() if path.name.startswith(f"{name}_")]


async def _until(condition: Callable[[], bool]) -> None:
    with anyio.fail_after(30):
        while not condition():  # noqa: ASYNC110
            await anyio.sleep(0.05)


def _listing(folder: Path) -> set[tuple[str, int]]:
    return {
        (str(path.relative_to(folder)), path.stat().st_size)
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
