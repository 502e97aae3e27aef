"""Our agents in Tau Bench's own run, against a double of its package."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import anyio
import pytest
from hypothesis import given
from hypothesis.strategies import text
from pydantic import Field

from greenroom.agents import Agent, AgentContext, AgentStrategy, DomainView, Stage
from greenroom.agents.text_protocol import ActSettings
from greenroom.agents.threads import ThreadModel, ThreadStage, play_in_thread
from greenroom.benchmark import RunConfig, play_run, start_run
from greenroom.domains.domain import Domain
from greenroom.domains.tasks import Action, respond
from greenroom.errors import InputError, OutsideFault
from greenroom.integrations import tau_bench
from greenroom.integrations.tau_bench import StrategyName
from greenroom.model_server import RunningServer, ServerSettings, running_server
from greenroom.models import ContextWindowExceeded, Model, ModelRequest
from greenroom.options import ModelRole, Settings
from greenroom.reports.tau_bench import OwnInfo, read_tau_bench
from greenroom.store import open_store

DOUBLE = Path(__file__).parent / "double"
MARKER = "planted-ground-truth"


@pytest.fixture
def upstream(monkeypatch: pytest.MonkeyPatch) -> Generator[Any]:
    """The double, installed as far as Python can tell."""
    monkeypatch.setattr(sys, "path", [str(DOUBLE), *sys.path])
    yield importlib.import_module("tau_bench.run")
    for name in [name for name in sys.modules if name.partition(".")[0] == "tau_bench"]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def server(retail: Domain) -> Generator[RunningServer]:
    with running_server(retail) as server:
        yield server


Run = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def run(
    upstream: Any, server: RunningServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Run:
    """Runs the plug-in on the scripted models: the rows of its result file."""
    monkeypatch.setenv("OPENAI_API_BASE", server.api_base)

    def run(*flags: object, model: str = "oracle") -> list[dict[str, Any]]:
        tau_bench.main(
            [
                *("--model", model, "--api-base", server.api_base),
                *("--user-model", "user", "--user-model-provider", "openai"),
                *("--log-dir", str(tmp_path / "results")),
                *map(str, flags),
            ]
        )
        return json.loads(result_file(tmp_path).read_text())

    return run


def result_file(tmp_path: Path) -> Path:
    (path,) = (tmp_path / "results").iterdir()
    return path


class Mood(Settings):
    """A setting of an agent."""

    mood: str = Field(default="fair", description="How it feels.")


class Planning(ActSettings):
    """A role that may have a model of its own."""

    planner_model: Annotated[str | None, ModelRole("planner")] = None


class FunctionAgent:
    """An agent that is nothing but a function."""

    def __init__(self, context: AgentContext, play: Callable[[AgentContext, Stage], Any]) -> None:
        self._context = context
        self._play = play

    async def play(self, stage: Stage) -> None:
        await self._play(self._context, stage)


@pytest.fixture
def playing(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Puts an agent made of a function in the place of any that is asked for."""

    def playing(play: Callable[[AgentContext, Stage], Any], **fields: Any) -> None:
        def create(context: AgentContext) -> Agent:
            return FunctionAgent(context, play)

        def find(name: str) -> AgentStrategy:
            return AgentStrategy(name, create, **fields)

        monkeypatch.setattr(tau_bench, "find_strategy", find)

    return playing


async def solve(context: AgentContext, stage: Stage) -> None:
    """Ask the scripted model, in the way in which it writes actions as text."""
    from greenroom.agents.text_protocol import act

    await act.create(replace(context, settings=act.check())).play(stage)


def our_own_rewards(server: RunningServer, **fields: Any) -> dict[Any, float | None]:
    config = RunConfig(
        api_base=server.api_base,
        user_model="user",
        user_api_base=server.api_base,
        user_strategy="llm",
        **fields,
    )
    with closing(open_store()) as store:
        record, prepared = start_run(store, config)
        anyio.run(play_run, store, record, prepared)
        return {(e.task_index, e.trial): e.reward for e in store.runs.results(record.id)}


def rewards(rows: list[dict[str, Any]]) -> dict[Any, float | None]:
    return {(row["task_id"], row["trial"]): row["reward"] for row in rows}


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["tool-calling", "structured", "react"])
def test_a_run_has_the_rewards_of_our_own_run(
    strategy: str, run: Run, server: RunningServer, tmp_path: Path
) -> None:
    flags = ("--end-index", 15, "--num-trials", 2, "--max-concurrency", 5)
    rows = run("--agent-strategy", strategy, *flags, model="synthetic-0.6")
    own = our_own_rewards(
        server,
        agent_strategy=strategy,
        model="synthetic-0.6",
        end_index=15,
        num_trials=2,
    )
    assert len(rows) == 30
    assert rewards(rows) == own
    assert set(own.values()) == {0.0, 1.0}
    name = result_file(tmp_path).name
    assert name.startswith(f"{strategy}-synthetic-0.6-0.0_range_0-15_user-user-llm_")


def test_a_result_file_is_read_with_what_we_know(run: Run, tmp_path: Path) -> None:
    (row,) = run("--agent-strategy", "structured", "--task-ids", 5)
    assert row["info"]["user_cost"] == pytest.approx(0.002)
    assert row["info"]["reward_info"]["reward"] == 1.0
    assert row["info"]["greenroom"]["agent_strategy"] == "structured"
    # The same as in files of our own runs.
    assert row["info"]["greenroom"].keys() == OwnInfo.model_fields.keys()
    (episode,) = read_tau_bench(result_file(tmp_path))
    assert episode.outcome == "success"
    assert episode.usage["agent"].calls == len(episode.steps)
    assert episode.usage["agent"].cost is None  # nobody knows what the scripted model costs
    assert episode.messages == row["traj"]
    assert episode.task.outputs


def test_agents_without_messages_leave_a_trajectory(
    run: Run, playing: Callable[..., None], tmp_path: Path
) -> None:
    async def greet(context: AgentContext, stage: Stage) -> None:
        await stage.step(Action("think", {"thought": "Hm."}))
        await stage.step(respond("All done."))

    playing(greet)
    (row,) = run("--task-ids", 5)
    assert [message["role"] for message in row["traj"]] == [
        *("system", "user", "assistant", "tool", "assistant", "user")
    ]
    (episode,) = read_tau_bench(result_file(tmp_path))
    assert [step.action.name for step in episode.steps] == ["think", "respond"]
    assert episode.messages is None


@pytest.mark.slow
def test_agents_in_threads_of_their_own_play_side_by_side(
    run: Run, playing: Callable[..., None], retail: Domain
) -> None:
    together = threading.Barrier(4)

    async def meet(context: AgentContext, stage: Stage) -> None:
        def play(stage: ThreadStage, model: ThreadModel) -> None:
            together.wait()
            for action in retail.task(context.task_index).actions:
                stage.step(action)
            stage.step(respond("All done."))

        await play_in_thread(stage, context.model, play)

    playing(meet)
    without_outputs = [i for i, task in enumerate(retail.tasks("test")) if not task.outputs][:4]
    rows = run("--task-ids", *without_outputs, "--max-concurrency", 4)
    assert [row["reward"] for row in rows] == [1.0] * 4


def test_trials_are_told_apart(run: Run, playing: Callable[..., None]) -> None:
    seen: list[tuple[int, int, int]] = []

    async def note(context: AgentContext, stage: Stage) -> None:
        seen.append((context.task_index, context.trial, context.seed))

    playing(note)
    run("--task-ids", 1, 2, "--num-trials", 3, "--seed", 4)
    assert [key[:2] for key in seen] == [(1, 0), (2, 0), (1, 1), (2, 1), (1, 2), (2, 2)]
    assert len({seed for _, _, seed in seen}) == 6


def test_the_ground_truth_does_not_reach_the_agent(
    run: Run, playing: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    base = importlib.import_module("tau_bench.envs.base")
    reset, step = base.Env.reset, base.Env.step

    def planted(method: Any) -> Any:
        def call(env: Any, argument: Any) -> Any:
            response = method(env, argument)
            response.info.task.user_id = MARKER
            return response

        return call

    monkeypatch.setattr(base.Env, "reset", planted(reset))
    monkeypatch.setattr(base.Env, "step", planted(step))
    seen: list[Any] = []

    async def look(context: AgentContext, stage: Stage) -> None:
        seen.extend([context, stage.opening, stage.policy, stage.tool_infos])
        seen.append(await stage.step(Action("get_user_details", {"user_id": "nobody"})))
        seen.append(await stage.step(respond("All done.")))

    playing(look)
    (row,) = run("--task-ids", 5)
    assert row["info"]["task"]["user_id"] == MARKER
    assert "###STOP###" in seen[-1]
    assert MARKER not in repr(seen)


def test_steps_run_out(run: Run, playing: Callable[..., None]) -> None:
    async def dawdle(context: AgentContext, stage: Stage) -> None:
        while not stage.over:
            await stage.step(Action("think", {"thought": "Hm."}))

    playing(dawdle)
    (row,) = run("--task-ids", 5)
    assert (row["reward"], row["info"]["greenroom"]["outcome"]) == (0.0, "max_steps")
    assert len([m for m in row["traj"] if m["role"] == "tool"]) == 30


def test_fewer_steps_can_be_asked_for(run: Run, playing: Callable[..., None]) -> None:
    async def go_on(context: AgentContext, stage: Stage) -> None:
        while True:
            await stage.step(Action("think", {"thought": "Hm."}))

    playing(go_on)
    (row,) = run("--task-ids", 5, "--max-num-steps", 3)
    assert row["info"]["greenroom"]["outcome"] == "max_steps"
    assert len([m for m in row["traj"] if m["role"] == "tool"]) == 3


def test_time_runs_out(run: Run, playing: Callable[..., None]) -> None:
    async def wait(context: AgentContext, stage: Stage) -> None:
        await anyio.sleep_forever()

    playing(wait)
    (row,) = run("--task-ids", 5, "--max-episode-seconds", 0.05)
    assert (row["reward"], row["info"]["greenroom"]["outcome"]) == (0.0, "max_time")


def test_an_agent_that_gives_up_scores_nothing(run: Run, playing: Callable[..., None]) -> None:
    async def give_up(context: AgentContext, stage: Stage) -> None:
        pass

    playing(give_up)
    (row,) = run("--task-ids", 5)
    assert (row["reward"], row["info"]["greenroom"]["outcome"]) == (0.0, "invalid")
    assert "error" not in row["info"]


def test_words_that_are_missing_are_told_to_the_agent(
    run: Run, playing: Callable[..., None]
) -> None:
    observed: list[str] = []

    async def mumble(context: AgentContext, stage: Stage) -> None:
        observed.append(await stage.step(Action("respond", {"text": "All done."})))
        observed.append(await stage.step(Action("shout", {})))

    playing(mumble)
    run("--task-ids", 5)
    assert observed == [
        "Error: respond needs the argument 'content', a text.",
        "Unknown action shout",
    ]


@pytest.mark.slow
def test_what_breaks_is_played_again(run: Run, playing: Callable[..., None]) -> None:
    attempts: list[int] = []

    async def stumble(context: AgentContext, stage: Stage) -> None:
        attempts.append(context.task_index)
        await stage.step(Action("think", {"thought": "Hm."}))
        if len(attempts) == 1:
            raise OutsideFault("the cable fell out")
        await solve(context, stage)

    playing(stumble, needs_model=True)
    (row,) = run("--task-ids", 5)
    assert (row["reward"], row["info"]["greenroom"]["attempts"]) == (1.0, 2)


@pytest.mark.slow
def test_a_user_who_breaks_down_is_called_again(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    base = importlib.import_module("tau_bench.envs.base")
    step, failed = base.Env.step, list[str]()

    def fail_once(env: Any, action: Any) -> Any:
        if action.name == "respond" and not failed:
            failed.append(action.name)
            raise OSError("the user's model is overloaded")
        return step(env, action)

    monkeypatch.setattr(base.Env, "step", fail_once)
    (row,) = run("--task-ids", 5)
    assert failed
    assert (row["reward"], row["info"]["greenroom"]["attempts"]) == (1.0, 2)
    # What the broken attempt cost is counted.
    answers = [message for message in row["traj"] if message["role"] == "assistant"]
    assert row["info"]["greenroom"]["usage"]["agent"]["calls"] > len(answers)


def test_what_stays_broken_is_no_failure_of_the_agent(
    run: Run, playing: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROVIDER_API_KEY", "secret-key-123")

    async def break_down(context: AgentContext, stage: Stage) -> None:
        await stage.step(Action("think", {"thought": "Hm."}))
        raise OutsideFault("no way with secret-key-123")

    playing(break_down)
    (row,) = run("--task-ids", 5, "--max-retries", 0)
    assert row["reward"] == 0.0
    assert row["info"]["error"] == "OutsideFault: no way with [PROVIDER_API_KEY]"
    assert len(row["traj"]) == 4
    (episode,) = read_tau_bench(result_file(tmp_path))
    assert (episode.outcome, episode.reward) == ("infrastructure_error", None)


def test_a_conversation_that_is_too_long_is_the_agents_own(
    run: Run, playing: Callable[..., None]
) -> None:
    async def overflow(context: AgentContext, stage: Stage) -> None:
        raise ContextWindowExceeded("Too long.")

    playing(overflow)
    (row,) = run("--task-ids", 5)
    assert (row["reward"], row["info"]["greenroom"]["outcome"]) == (0.0, "context_window")


def test_what_a_person_has_to_mend_stops_the_run(
    run: Run,
    playing: Callable[..., None],
    upstream: Any,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    its_own = upstream.agent_factory
    played: list[int] = []

    async def fail_later(context: AgentContext, stage: Stage) -> None:
        played.append(context.task_index)
        if len(played) > 1:
            raise InputError("The key is wrong: set another.")

    playing(fail_later)
    with pytest.raises(SystemExit) as end:
        run("--end-index", 20)
    assert end.value.code == 2
    assert capsys.readouterr().err == "error: The key is wrong: set another.\n"
    assert played == [0, 1]
    # What was finished is kept, and nothing else is scored.
    assert rewards(json.loads(result_file(tmp_path).read_text())) == {(0, 0): 0.0}
    assert upstream.agent_factory is its_own


def test_a_budget_stops_the_run(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        run("--end-index", 20, "--max-concurrency", 3, "--max-tokens-total", 5000)
    assert end.value.code == 2
    assert "5,000 tokens" in capsys.readouterr().err


@pytest.mark.slow
def test_faults_of_the_model_are_retried(
    upstream: Any, retail: Domain, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rough = ServerSettings(fault_rate=0.2, faults=("500", "drop"))
    with running_server(retail, settings=rough) as rough_server, running_server(retail) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.api_base)
        tau_bench.main(
            [
                *("--model", "oracle", "--api-base", rough_server.api_base),
                *("--user-model", "user", "--user-model-provider", "openai"),
                *("--log-dir", str(tmp_path / "results"), "--task-ids", "1", "2", "3"),
                *("--model-retries", "8", "--max-concurrency", "3"),
            ]
        )
    rows = json.loads(result_file(tmp_path).read_text())
    assert [row["reward"] for row in rows] == [1.0] * 3
    assert sum(row["info"]["greenroom"]["usage"]["agent"]["retries"] for row in rows) > 0


def test_the_factory_is_replaced_for_the_run_only(
    run: Run, upstream: Any, playing: Callable[..., None]
) -> None:
    its_own = upstream.agent_factory
    during: list[Any] = []

    async def look(context: AgentContext, stage: Stage) -> None:
        during.append(upstream.agent_factory)

    playing(look)
    run("--task-ids", 5)
    assert during[0] is not its_own
    assert upstream.agent_factory is its_own


def test_what_agents_share_is_prepared_once_and_given_back(
    run: Run, playing: Callable[..., None], retail: Domain
) -> None:
    events: list[Any] = []

    @asynccontextmanager
    async def prepare(domain: DomainView, settings: Mood, max_steps: int) -> AsyncGenerator[str]:
        events.append((domain.name, domain.policy, domain.tool_infos, settings, max_steps))
        yield "shared"
        events.append("given back")

    async def note(context: AgentContext, stage: Stage) -> None:
        events.append(context.shared)

    playing(note, prepare=prepare, settings=Mood)
    run("--task-ids", 1, 2, "--agent-option", "mood=good", "--max-num-steps", 7)
    known = ("retail", retail.policy, retail.tool_infos, Mood(mood="good"), 7)
    assert events == [known, "shared", "shared", "given back"]


def test_a_strategy_may_refuse_a_run_before_it_begins(
    run: Run, playing: Callable[..., None], upstream: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    its_own = upstream.agent_factory
    played: list[int] = []

    @asynccontextmanager
    async def prepare(*_: object) -> AsyncGenerator[None]:
        raise InputError("There is no command for a tool.")
        yield

    async def note(context: AgentContext, stage: Stage) -> None:
        played.append(context.task_index)

    playing(note, prepare=prepare)
    with pytest.raises(SystemExit) as end:
        run("--task-ids", 1, 2)
    assert (end.value.code, played) == (2, [])
    assert capsys.readouterr().err == "error: There is no command for a tool.\n"
    assert upstream.agent_factory is its_own


def test_roles_have_models_of_their_own(run: Run, playing: Callable[..., None]) -> None:
    async def ask(context: AgentContext, stage: Stage) -> None:
        assert set(context.role_models) == {"planner"}
        await solve(replace(context, model=context.role_models["planner"]), stage)

    playing(ask, needs_model=True, settings=Planning)
    (row,) = run("--task-ids", 5, "--agent-option", "planner_model=oracle", model="synthetic-0")
    assert row["reward"] == 1.0


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_fastworkflow_plays_in_tau_bench(run: Run, tmp_path: Path) -> None:
    rows = run("--agent-strategy", "fastworkflow", "--task-ids", 0, 1, 2, "--max-concurrency", 3)
    assert [row["reward"] for row in rows] == [1.0] * 3
    assert result_file(tmp_path).name.startswith("fastworkflow-oracle-0.0_range_0--1_user-user")
    for row in rows:
        own = row["info"]["greenroom"]
        assert own["facts"]["FastWorkflow"]
        assert sum(own["tallies"]["model calls"].values()) == own["usage"]["agent"]["calls"]


def test_upstream_would_refuse_the_strategy_itself(upstream: Any) -> None:
    # What the plug-in has to get past, so that the tests above say something.
    config = importlib.import_module("tau_bench.types").RunConfig(
        model="m",
        model_provider="openai",
        user_model_provider="openai",
        agent_strategy=StrategyName("structured"),
    )
    assert type(config.agent_strategy) is str
    with pytest.raises(AssertionError, match="Invalid agent strategy"):
        upstream.run(config)


@given(text())
def test_a_name_passes_and_still_tells_the_truth(given: str) -> None:
    name = StrategyName(given)
    assert name in ["act", "tool-calling"]
    assert name == given
    assert (name != "react") is (given != "react")
    assert f"{name}" == str(name) == given
    assert json.loads(json.dumps(name)) == given


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--agent-strategy", "oracle"), "The oracle agent knows the ground truth"),
        (
            ("--agent-strategy", "replay", "--agent-option", f"file={DOUBLE / 'none.json'}"),
            "none.json is missing",
        ),
        (("--agent-strategy", "orcale"), "Unknown agent strategy 'orcale'. Did you mean 'oracle'?"),
        (("--agent-option", "success"), "--agent-option takes NAME=VALUE, not 'success'."),
        (("--agent-option", "success=1"), "Unknown setting of the tool-calling agent 'success'"),
        (("--max-num-steps", "0"), "--max-num-steps should be greater than or equal to 1, not 0."),
        (("--model-provider", "nobody"), "Tau Bench refuses this run: Invalid model provider."),
        (("--user-strategy", "nobody"), "Tau Bench refuses this run: Invalid user strategy."),
        (
            ("--agent-strategy", "few-shot"),
            "few_shot_displays_path: Field required",
        ),
    ],
)
def test_bad_input_is_told_in_a_line(
    flags: tuple[str, ...], message: str, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        run(*flags)
    assert end.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert message in error


@pytest.mark.usefixtures("upstream")
@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ((), "The tool-calling agent asks a language model: name it by --model."),
        (("--model", "gpt-4o"), "Tau Bench needs --model-provider."),
        (("--model", "m", "--model-provider", "openai"), "Tau Bench needs --user-model-provider."),
    ],
)
def test_what_is_missing_is_named(
    flags: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        tau_bench.main([*flags])
    assert (end.value.code, capsys.readouterr().err) == (2, f"error: {message}\n")


def test_an_agent_that_brings_its_own_user_is_refused(
    run: Run, playing: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    playing(solve, create_user=lambda context: None)  # pyright: ignore[reportUnknownLambdaType]
    with pytest.raises(SystemExit):
        run("--agent-strategy", "replay")
    assert "The replay agent brings a user of its own" in capsys.readouterr().err


def test_an_agent_without_a_model_needs_no_name_of_one(
    upstream: Any,
    playing: Callable[..., None],
    server: RunningServer,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    async def greet(context: AgentContext, stage: Stage) -> None:
        assert context.model is None
        await stage.step(respond("All done."))

    playing(greet)
    monkeypatch.setenv("OPENAI_API_BASE", server.api_base)
    flags = ["--user-model", "user", "--user-model-provider", "openai", "--task-ids", "5"]
    tau_bench.main([*flags, "--agent-strategy", "greeter", "--log-dir", str(tmp_path / "results")])
    assert result_file(tmp_path).name.startswith("greeter-none-0.0_range")


def test_tau_bench_may_be_missing(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        tau_bench.main(["--model", "m"])
    assert end.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith("error: Tau Bench is not installed here")
    assert error.count("\n") == 1


def test_what_tau_bench_itself_needs_may_be_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tau_bench").mkdir()
    (tmp_path / "tau_bench/__init__.py").write_text("import no_such_thing\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with pytest.raises(SystemExit):
        tau_bench.main(["--model", "m"])
    assert "it needs 'no_such_thing', which is not installed" in capsys.readouterr().err


@pytest.mark.slow
def test_it_runs_as_a_module(server: RunningServer, tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-W", "error", "-m", "greenroom.integrations.tau_bench"),
            *("--agent-strategy", "act", "--model", "oracle", "--api-base", server.api_base),
            *("--user-model", "user", "--user-model-provider", "openai"),
            *("--task-ids", "5", "8", "--max-concurrency", "2"),
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(DOUBLE), "OPENAI_API_BASE": server.api_base},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "Average reward: 1.0" in done.stdout
    assert result_file(tmp_path).name.startswith("act-oracle-")


def test_the_model_is_shared_by_all_threads(run: Run, playing: Callable[..., None]) -> None:
    models: list[Model | None] = []
    together = anyio.Event()

    async def ask(context: AgentContext, stage: Stage) -> None:
        assert context.model is not None
        models.append(context.model)
        if len(models) == 3:
            together.set()
        await together.wait()  # one event loop: this would hang if each thread had its own
        messages = [
            {"role": "system", "content": stage.policy},
            {"role": "user", "content": stage.opening},
        ]
        await context.model.complete(ModelRequest(messages=messages, tools=stage.tool_infos))

    playing(ask, needs_model=True)
    rows = run("--task-ids", 1, 2, 3, "--max-concurrency", 3)
    assert [row["info"]["greenroom"]["usage"]["agent"]["calls"] for row in rows] == [1, 1, 1]
    assert len({getattr(model, "client", None) for model in models}) == 1
