"""The example of an agent from another framework: dspy's ReAct, played through its entry point."""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from typing import Any

import anyio
import pytest

from greenroom.agents import Agent, AgentContext, AgentStrategy, find_strategy, strategy_names
from greenroom.benchmark import Episode, RunConfig, RunContext, play_episode
from greenroom.domains.domain import Domain
from greenroom.domains.tasks import RESPOND, Action
from greenroom.errors import InputError
from greenroom.models import Completion, FakeModel, Model, ModelRequest, ModelUnavailable
from greenroom.store import open_store
from tests.cli.running import Greenroom

EXAMPLE = Path(__file__).parents[1] / "examples/dspy_react"
ASKED_FIRST = "May I go ahead?"


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `pip install -e` leaves behind: the code on the path, and its entry points beside it."""
    metadata = tmp_path / "greenroom_dspy-0.1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: greenroom-dspy\nVersion: 0.1.0\n"
    )
    (metadata / "entry_points.txt").write_text(
        "[greenroom.agents]\ndspy-react = greenroom_dspy:strategy\n"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(EXAMPLE), *sys.path])


def written(**fields: str) -> str:
    """An answer in the form that dspy's chat adapter reads."""
    parts = [f"[[ ## {name} ## ]]\n{value}" for name, value in fields.items()]
    return "\n\n".join([*parts, "[[ ## completed ## ]]"])


def call(name: str, **arguments: Any) -> str:
    return written(next_thought="Next.", next_tool_name=name, next_tool_args=json.dumps(arguments))


def reply(words: str) -> str:
    return written(reasoning="That is it.", reply=words)


@dataclass
class KnowingModel:
    """Plays the ground truth of whatever task the conversation is about, in dspy's form.

    It finds out how far things have got from the question alone, so it can be asked by many
    episodes at once. It asks the user before it does anything, so that there are two turns, unless
    it is hasty.
    """

    domain: Domain
    hasty: bool = False
    requests: list[ModelRequest] = field(default_factory=list[ModelRequest])

    async def complete(self, request: ModelRequest) -> Completion:
        self.requests.append(request)
        return Completion(
            message={"role": "assistant", "content": self.answer(request.messages)},
            prompt_tokens=10,
            completion_tokens=2,
            cost=0.001,
        )

    def answer(self, messages: list[dict[str, Any]]) -> str:
        asked = messages[-1]["content"]
        # The longest: an instruction may begin like another.
        task = max(
            (task for task in self.domain.tasks("test") if task.instruction in asked),
            key=lambda task: len(task.instruction),
        )
        wants_reply = "`[[ ## reply ## ]]`" in asked
        if not self.hasty and f"You: {ASKED_FIRST}" not in asked:
            return reply(ASKED_FIRST) if wants_reply else call("finish")
        done = len(re.findall(r"\[\[ ## tool_name_\d+ ## \]\]", asked))
        ahead = [action for action in task.actions if action.name != RESPOND][done:]
        if wants_reply:
            return reply(f"All done: {' '.join(task.outputs)}")
        return call(ahead[0].name, **ahead[0].kwargs) if ahead else call("finish")


class PatientUser:
    """Says the instruction, agrees once, and ends the conversation at the second answer."""

    def __init__(self) -> None:
        self._answers = iter(["Yes, go ahead.", "###STOP###"])

    async def open(self, instruction: str) -> str:
        return instruction

    async def reply(self, content: str) -> str:
        return next(self._answers)


async def play(
    domain: Domain, task: int, model: Model, *, trial: int = 0, **config: Any
) -> Episode:
    ours = find_strategy("dspy-react")

    def create(context: AgentContext) -> Agent:
        return ours.create(replace(context, settings=ours.check(), model=model))

    with_user = AgentStrategy(ours.name, create, create_user=lambda context: PatientUser())
    context = RunContext(domain, with_user, RunConfig(**config))
    return await play_episode(context, task, trial=trial)


# Filters of warnings are the process's: what dspy hides in one thread, another would see raised.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.anyio
async def test_it_solves_tasks_side_by_side(retail: Domain) -> None:
    model = KnowingModel(retail)
    episodes: list[Episode] = []

    async def one(task: int) -> None:
        episodes.append(await play(retail, task, model))

    async with anyio.create_task_group() as group:
        for task in range(12):
            group.start_soon(one, task)
    assert [episode.error for episode in episodes] == [None] * 12
    assert [episode.outcome for episode in episodes] == ["success"] * 12
    for episode in episodes:
        actions = [Action(step.action.name, step.action.kwargs) for step in episode.steps]
        truth = [a for a in retail.task(episode.task_index).actions if a.name != RESPOND]
        spoken = [action for action in actions if action.name == RESPOND]
        assert [action for action in actions if action.name != RESPOND] == truth
        assert len(spoken) == (1 if episode.steps[-1].action.name != RESPOND else 2)


@pytest.mark.anyio
async def test_the_policy_the_tools_and_earlier_turns_are_in_the_question(retail: Domain) -> None:
    model = FakeModel(
        [
            call("think", thought="Hm."),
            call("finish"),
            reply("Shall I?"),
            call("finish"),
            reply("Bye."),
        ]
    )
    episode = await play(retail, 5, model)
    assert [step.action.name for step in episode.steps] == ["think", "respond", "respond"]
    first, *_, last = [request.messages for request in model.requests]
    assert [message["role"] for message in first] == ["system", "user"]
    for said in (retail.policy.splitlines()[0], "cancel_pending_order", "finish"):
        assert said in first[0]["content"]
    assert f"User: {retail.task(5).instruction}" in first[1]["content"]
    for said in ('You called think with {"thought": "Hm."}: ', "You: Shall I?", "User: Yes, go"):
        assert said in last[1]["content"]


@pytest.mark.anyio
async def test_nothing_is_asked_after_the_end(retail: Domain) -> None:
    model = FakeModel([call("transfer_to_human_agents", summary="No idea."), call("finish")])
    episode = await play(retail, 5, model)
    assert [step.action.name for step in episode.steps] == ["transfer_to_human_agents"]
    assert episode.outcome == "failure"
    assert len(model.requests) == 1


@pytest.mark.anyio
@pytest.mark.parametrize("nonsense", ["What?", "", written(next_thought="Hm.")])
async def test_nonsense_is_the_agents_own_failure(retail: Domain, nonsense: str) -> None:
    episode = await play(retail, 5, FakeModel([nonsense]))
    assert (episode.outcome, episode.steps) == ("invalid", ())


@pytest.mark.anyio
async def test_an_empty_reply_is_not_said(retail: Domain) -> None:
    episode = await play(retail, 5, FakeModel([call("finish"), reply("")]))
    assert (episode.outcome, episode.steps) == ("invalid", ())


@pytest.mark.anyio
async def test_a_model_without_an_answer_is_nobodys_failure(retail: Domain) -> None:
    model = FakeModel([call("think", thought="Hm."), ModelUnavailable("No answer.")])
    episode = await play(retail, 5, model)
    assert episode.outcome == "infrastructure_error"
    assert episode.error == "ModelUnavailable: No answer."
    assert len(model.requests) == 2  # dspy does not try again: that is the client's


@pytest.mark.anyio
async def test_an_episode_can_run_out_of_time(retail: Domain) -> None:
    class Endless:
        async def complete(self, request: ModelRequest) -> Completion:
            await anyio.sleep_forever()
            raise AssertionError

    episode = await play(retail, 5, Endless(), max_episode_seconds=0.2)
    assert episode.outcome == "max_time"


@pytest.mark.anyio
async def test_every_trial_asks_its_own_questions(retail: Domain) -> None:
    # dspy's cache would answer the second trial, and the model would never be asked.
    model = KnowingModel(retail)
    for trial in range(2):
        await play(retail, 5, model, trial=trial)
    half = len(model.requests) // 2
    assert half > 2
    assert model.requests[:half] == model.requests[half:]


@pytest.mark.anyio
async def test_dspy_keeps_nothing_of_an_episode(retail: Domain) -> None:
    base_lm, dspy = import_module("dspy.clients.base_lm"), import_module("dspy")

    def kept() -> tuple[int, int, Any]:
        return len(base_lm.GLOBAL_HISTORY), len(dspy.settings.trace or ()), dspy.settings.lm

    before = kept()
    assert (await play(retail, 5, KnowingModel(retail))).outcome == "success"
    assert kept() == before


@contextmanager
def served(model: KnowingModel) -> Generator[str]:
    """The model behind OpenAI's protocol: its api base."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            text = model.answer(json.loads(self.rfile.read(length))["messages"])
            body = {
                "choices": [
                    {"finish_reason": "stop", "message": {"role": "assistant", "content": text}}
                ],
                "usage": {"prompt_tokens": 10, "completion_tokens": 2},
            }
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.slow
def test_it_plays_at_the_command_line(greenroom: Greenroom, retail: Domain, tmp_path: Path) -> None:
    assert "dspy-react" in strategy_names()
    prices = tmp_path / "prices.json"
    prices.write_text('{"knowing": {"input_cost_per_token": 0.01, "output_cost_per_token": 0.1}}')
    # The scripted user ends the conversation at the first answer.
    with served(KnowingModel(retail, hasty=True)) as api_base:
        report = greenroom(
            *("run", "--agent-strategy", "dspy-react", "--task-ids", "1,2,3", "--num-trials", 2),
            *("--model", "knowing", "--api-base", api_base, "--max-concurrency", 6),
            *("--prices", prices, "--json"),
        ).json
    assert report["metrics"]["outcomes"] == {"success": 6}
    with closing(open_store()) as store:
        (run,) = store.runs.all()
        used = [summary.usage["agent"] for summary in store.runs.summaries(run.id)]
    for agent in used:
        assert agent.prompt_tokens == 10 * agent.calls > 0
        assert agent.cost == pytest.approx(0.3 * agent.calls)


def test_options_are_checked() -> None:
    find_strategy("dspy-react").check({"max_iters": "3"})
    for wrong in ("0", "many", "-1", "1001", ""):
        with pytest.raises(InputError, match="setting max_iters: Input should be"):
            find_strategy("dspy-react").check({"max_iters": wrong})


def test_it_declares_the_entry_point_that_the_test_uses() -> None:
    declared = (EXAMPLE / "pyproject.toml").read_text()
    assert (
        '[project.entry-points."greenroom.agents"]\ndspy-react = "greenroom_dspy:strategy"'
        in declared
    )
