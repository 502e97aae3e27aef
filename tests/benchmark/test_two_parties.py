"""Runs in domains where both parties act: what is kept, replayed, rewound and shown."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import anyio
import pytest

from greenroom.agents import AgentContext, Script, Stage, find_strategy
from greenroom.agents.history import check_takes_over
from greenroom.agents.replay import load_recordings
from greenroom.analysis.aligned_steps import align_episode
from greenroom.analysis.errors import diagnose
from greenroom.analysis.tools import tool_figures
from greenroom.benchmark import check_config, play_run, replay_recordings, start_run
from greenroom.benchmark.context import prepare_run
from greenroom.benchmark.rewind import find_point, history_of, open_at
from greenroom.benchmark.rewind_runs import start_rewind
from greenroom.benchmark.sessions import AgentSessions
from greenroom.benchmark.simulation_files import results_file
from greenroom.benchmark.simulations import replay_simulations
from greenroom.domains import Action, Environment, load_domain, respond
from greenroom.domains.past import past_messages
from greenroom.domains.tau2.recorded import read_simulations
from greenroom.domains.tau_bench import Env
from greenroom.model_server import running_server, scripted_server
from greenroom.playground.episode_view import shown_items, truth_of
from greenroom.playground.reward_view import reward_parts
from greenroom.reports.html_data import episode_items
from greenroom.reports.tau_bench import read_tau_bench, tau_bench_rows, write_tau_bench
from greenroom.store import EpisodeRecord, RunRecord, Store, open_store
from greenroom.users import ScriptedUser
from greenroom.workflows import Call, LocalTarget
from tests.conftest import TAU2_DATA as TAU2
from tests.domains.thermostats import PATH, thermostats


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Generator[Store]:
    monkeypatch.setenv("GREENROOM_DATABASE_URL", f"sqlite:///{tmp_path}/two.db")
    opened = open_store()
    yield opened
    opened.close()


def stored(store: Store, **config: Any) -> tuple[RunRecord, EpisodeRecord]:
    """A run that was played to its end, and its first episode."""
    run, context = start_run(store, check_config({"env": str(PATH)} | config), name="stored")
    anyio.run(play_run, store, run, context)
    return store.runs.find(run.id), next(iter(list(store.runs.results(run.id))))


def test_an_episode_is_kept_with_the_calls_of_both(store: Store) -> None:
    _, episode = stored(store)
    assert episode.solved
    assert [[call.action.name for call in step.user_calls] for step in episode.steps] == [
        ["read_display"],
        [],
        ["set_mode"],
        [],
    ]
    assert {call.action.party for step in episode.steps for call in step.user_calls} == {"user"}
    assert [action.party for action in episode.task.actions] == ["user", "agent", "user"]
    details = episode.details
    assert details is not None
    assert details.basis == ["database", "assertions"]
    assert [(one.name, one.party, one.met) for one in details.assertions] == [
        ("is_heating", "user", True)
    ]


def test_episodes_of_earlier_versions_are_read(store: Store) -> None:
    _, episode = stored(store)
    old = episode.model_dump(mode="json")
    del old["opening_calls"]
    for step in old["steps"]:
        del step["user_calls"], step["failed"], step["action"]["party"]
    for name in ("basis", "assertions", "actions", "judged"):
        del old["details"][name]
    read = EpisodeRecord.model_validate(old)
    assert read.details is not None
    assert read.details.basis == ["database", "outputs"]
    assert not any(step.user_calls for step in read.steps)


def test_pages_show_whose_call_it_was(store: Store) -> None:
    _, episode = stored(store)
    shown = [(item.kind, item.who, item.tool) for item in shown_items(episode)]
    assert shown[:4] == [
        ("said", "user", ""),
        ("said", "agent", ""),
        ("call", "user", "read_display"),
        ("said", "user", ""),
    ]
    assert [(one.party, one.words) for one in truth_of(episode)] == [
        ("user", "done so"),
        ("agent", "done so"),
        ("user", "done so"),
    ]
    parts = {part.name: (part.counts, part.met) for part in reward_parts(episode)}
    assert parts == {"database": (True, True), "assertions": (True, True)}
    items = [item for item in episode_items(episode) if "tool" in item]
    assert [item["by_user"] for item in items] == [True, False, True]
    assert {tool.name for tool in tool_figures([episode])} == {
        "pair",
        "read_display (user)",
        "set_mode (user)",
    }


@pytest.mark.parametrize("left_out", ["pair", "set_mode"])
def test_a_failure_is_told_by_whose_action_is_missing(store: Store, left_out: str) -> None:
    _, episode = stored(store)
    steps = [
        step.model_copy(
            update={"user_calls": [c for c in step.user_calls if c.action.name != left_out]}
        )
        for step in episode.steps
        if step.action.name != left_out
    ]
    assert episode.details is not None
    unmet = [one.model_copy(update={"met": False}) for one in episode.details.assertions]
    details = episode.details.model_copy(update={"database": False, "assertions": unmet})
    failed = episode.model_copy(
        update={"steps": steps, "details": details, "reward": 0.0, "outcome": "failure"}
    )
    found = diagnose(failed)
    assert found is not None
    assert found.kind == ("missing_write" if left_out == "pair" else "user_action")
    assert "assertion_unmet" in found.kinds
    missing = [one for one in align_episode(failed).truth if one.relation == "none"]
    assert [one.action.name for one in missing] == [left_out]


def test_a_result_file_holds_the_users_calls_and_replays(store: Store, tmp_path: Path) -> None:
    run, episode = stored(store)
    path = tmp_path / "results.json"
    write_tau_bench(path, tau_bench_rows(run, [episode]))
    (read,) = read_tau_bench(path)
    assert [step.user_calls for step in read.steps] == [step.user_calls for step in episode.steps]
    (replayed,) = replay_recordings(thermostats(), load_recordings(path))
    assert (replayed.reward, replayed.differences) == (1.0, ())


@pytest.mark.parametrize("step", range(1, 5))
def test_any_place_is_restored_with_both_worlds(store: Store, step: int) -> None:
    run, episode = stored(store)
    point = find_point(run, episode, step=step)
    opened = anyio.run(lambda: open_at(thermostats(), episode, point, split="test", max_steps=30))
    worlds = opened.environment.worlds
    assert worlds.user is not None
    mine = worlds.user["thermostats"].read("mine")
    assert (mine["locked"], mine["mode"]) == (step <= 2, "heat" if step == 4 else "off")
    assert opened.differences == ()


@pytest.mark.parametrize("turn", [1, 2])
def test_trials_go_on_with_a_user_who_acts(store: Store, turn: int) -> None:
    stored(store)
    started = start_rewind(store, "stored", 0, turn=turn, trials=2)
    anyio.run(play_run, store, started.run, started.context)
    episodes = list(store.runs.results(started.run.id))
    assert [episode.solved for episode in episodes] == [True, True]
    names = [
        [call.action.name for step in one.steps for call in step.user_calls] for one in episodes
    ]
    assert names == [["read_display", "set_mode"]] * 2


def test_a_model_takes_over_what_both_did(store: Store) -> None:
    _, episode = stored(store)
    history = history_of(episode, 2, own=False)
    assert [len(calls) for calls in history.user_calls] == [0, 1]
    check_takes_over(find_strategy("tool-calling"), history)


MODELS = {"model": "openai/oracle", "user_model": "openai/user"}


@pytest.mark.parametrize("user", ["llm", "react", "verify"])
@pytest.mark.parametrize("agent", ["tool-calling", "react", "structured"])
def test_models_of_both_parties_play(
    store: Store, monkeypatch: pytest.MonkeyPatch, agent: str, user: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with running_server(thermostats()) as server:
        where = {"api_base": server.api_base, "user_api_base": server.api_base}
        who = {"agent_strategy": agent, "user_strategy": user}
        _, episode = stored(store, **MODELS, **where, **who)
    assert episode.solved, episode.error
    assert sum(len(step.user_calls) for step in episode.steps) == 2


def test_tau_benchs_env_has_a_user_who_acts() -> None:
    env = Env(thermostats(), ScriptedUser([Action("set_mode", {"mode": "heat"}), "###STOP###"]))
    env.reset(0)
    env.step({"name": "pair", "kwargs": {"account": "A-1", "code": "4711"}})
    response = env.step({"name": "respond", "kwargs": {"content": "Heat it."}})
    assert (response.done, response.reward) == (True, 1.0)


def test_a_caller_of_a_served_agent_acts() -> None:
    async def talk() -> list[Any]:
        said: list[Any] = []
        async with scripted_server(thermostats()) as server:
            config = check_config(
                {
                    "env": str(PATH),
                    "agent_strategy": "tool-calling",
                    "model": "oracle",
                    "api_base": server.api_base,
                }
            )
            sessions = AgentSessions(prepare_run(config))
            async with sessions.running():
                target = LocalTarget(sessions.workflow())
                messages: list[dict[str, Any]] = []
                instruction = thermostats().task(0).instruction
                for words in (instruction, "/call read_display", "It shows 4711.", "/tools"):
                    messages.append({"role": "user", "content": words})
                    call = Call(inputs={"messages": list(messages)}, session_id="a")
                    answer = await target.call(call)
                    messages.append({"role": "assistant", "content": answer.outputs})
                    said.append(answer.outputs)
        return said

    first, display, second, tools = (str(one) for one in anyio.run(talk))
    assert "read_display" in first
    assert '"locked": true' in display.replace("\\", "")
    assert "set_mode" in second
    assert "Press the button" in tools


# tau2's domains


GOLD_FAILS = {"update_task_with_history_and_env_assertions", "update_task_with_user_tools"}
"""Tasks of mock whose ground truth does not reach reward 1, by tau2's own evaluation."""


async def unsolved(name: str, split: str) -> list[str | None]:
    domain = load_domain(name, TAU2)
    found: list[str | None] = []
    for index, task in enumerate(domain.tasks(split)):
        environment = Environment(domain, ScriptedUser(does_as_asked=True), split=split)
        await environment.reset(index)
        script = Script(domain, split, index)
        agent = find_strategy("oracle").create(AgentContext(index, 0, 0, script=script))
        await agent.play(Stage(environment))
        reward = environment.reward
        if reward is None or reward.value != 1.0:
            found.append(task.id)
    return found


@pytest.mark.tau2_data
@pytest.mark.parametrize("name", ["mock", "telecom", "banking_knowledge", "retail", "airline"])
def test_the_oracle_solves_all_that_can_be_solved(name: str) -> None:
    assert set(anyio.run(unsolved, name, "base")) == (GOLD_FAILS if name == "mock" else set())


@pytest.mark.tau2_data
@pytest.mark.slow
def test_the_oracle_solves_all_of_telecom() -> None:
    assert anyio.run(unsolved, "telecom", "full") == []


@pytest.mark.slow
@pytest.mark.tau2_data
@pytest.mark.parametrize("name", ["telecom", "banking_knowledge"])
def test_models_play_domains_of_tau2(
    store: Store, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with running_server(load_domain(name, TAU2)) as server:
        where = {"api_base": server.api_base, "user_api_base": server.api_base}
        fields = {"env": name, "data": str(TAU2), "agent_strategy": "tool-calling"}
        run, context = start_run(
            store, check_config({**MODELS, **where, **fields, "end_index": 12}), name="both"
        )
        anyio.run(play_run, store, run, context)
    episodes = list(store.runs.results(run.id))
    assert len(episodes) == 12
    assert all(episode.solved for episode in episodes)
    assert any(step.user_calls for episode in episodes for step in episode.steps)


@pytest.mark.slow
@pytest.mark.tau2_data
def test_a_greeting_is_the_agents_first_message() -> None:
    domain = load_domain("telecom", TAU2)
    environment = Environment(domain, ScriptedUser())
    anyio.run(environment.reset, 0)
    stage = Stage(environment)
    assert stage.opening_messages[0] == {"role": "assistant", "content": stage.greeting}
    assert stage.opening_messages[1]["role"] == "user"


@pytest.mark.slow
@pytest.mark.tau2_data
def test_an_agent_that_works_alone_has_all_tools_and_a_ticket(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    solo = load_domain("telecom", TAU2, {"solo": "true"})
    names = [info["function"]["name"] for info in solo.tool_infos]
    assert (len(names), names[-1]) == (13 + 30 + 1, "done")
    with running_server(solo) as server:
        fields = {"env": "telecom", "env_options": {"solo": "true"}, "data": str(TAU2)}
        models = {"agent_strategy": "tool-calling", "model": "oracle", "api_base": server.api_base}
        run, context = start_run(
            store, check_config({**fields, **models, "end_index": 4}), name="alone"
        )
        anyio.run(play_run, store, run, context)
    episodes = list(store.runs.results(run.id))
    assert [episode.solved for episode in episodes] == [True] * 4
    for episode, task in zip(episodes, context.domain.tasks("base"), strict=False):
        assert episode.opening == task.ticket
        assert episode.steps[-1].action.name == "done"
        assert not any(step.user_calls for step in episode.steps)
    file = results_file(store.runs.find(run.id), context.domain, episodes)
    (first, *_) = file["simulations"]
    assert first["termination_reason"] == "agent_stop"
    assert {message["role"] for message in first["messages"]} == {"assistant", "tool"}
    assert first["messages"][-1]["content"] == "###STOP###"
    # Read again, the file says that the agent worked alone, and every call is answered the same.
    recorded = read_simulations(json.loads(json.dumps(file)), "alone.json")
    assert all(one.solo for one in recorded)
    for replayed in replay_simulations(recorded, lambda _: solo):
        assert (replayed.reward, replayed.differences) == (1.0, ())


@pytest.mark.anyio
@pytest.mark.tau2_data
async def test_nobody_answers_an_agent_that_works_alone() -> None:
    solo = load_domain("mock", TAU2, {"solo": "true"})
    environment = Environment(solo, ScriptedUser(does_as_asked=True))
    await environment.reset(0)
    step = await environment.step(respond("Please dismiss it."))
    assert step.observation.startswith("Error: nobody is there")
    assert (step.done, step.user_calls) == (False, ())
    assert (await environment.step(Action("done"))).done
    assert environment.reward is not None


@pytest.mark.tau2_data
def test_what_was_said_before_a_task_begins_is_read_by_both(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    task_id = "update_task_with_message_history"
    with running_server(load_domain("mock", TAU2)) as server:
        where = {"api_base": server.api_base, "user_api_base": server.api_base}
        fields = {"env": "mock", "data": str(TAU2), "agent_strategy": "tool-calling"}
        config = check_config({**MODELS, **where, **fields, "task_ids": [task_id]})
        run, context = start_run(store, config, name="both")
        anyio.run(play_run, store, run, context)
    (episode,) = store.runs.results(run.id)
    assert episode.solved
    (task,) = [task for task in context.domain.tasks("base") if task.id == task_id]
    assert episode.opening == task.instruction
    # The agent goes on from its own call and its last words; nobody is greeted again.
    read = [message for message in episode.messages or [] if message["role"] != "system"]
    assert [message["role"] for message in read[:5]] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]
    assert read[1]["tool_calls"][0]["function"]["name"] == "create_task"
    assert read[2]["name"] == "create_task"
    assert read[4]["content"] == task.instruction
    # The user hears those words, and has seen none of the calls.
    seen = past_messages(task, "user")
    assert [message["role"] for message in seen] == ["assistant", "user"]


@pytest.mark.tau2_data
@pytest.mark.slow
@pytest.mark.parametrize("agent", ["fastworkflow", "workflow"])
@pytest.mark.parametrize("name", ["telecom", "banking_knowledge"])
def test_other_agents_play_domains_of_tau2(
    store: Store, monkeypatch: pytest.MonkeyPatch, name: str, agent: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with running_server(load_domain(name, TAU2)) as server:
        where: dict[str, Any] = {"api_base": server.api_base, "user_api_base": server.api_base}
        fields = {"env": name, "data": str(TAU2), "agent_strategy": agent, "end_index": 2}
        if agent == "workflow":
            where["agent_options"] = {"workflow": f"{server.api_base}#oracle"}
        run, context = start_run(store, check_config({**MODELS, **where, **fields}), name="both")
        anyio.run(play_run, store, run, context)
    episodes = list(store.runs.results(run.id))
    assert [episode.solved for episode in episodes] == [True, True]
