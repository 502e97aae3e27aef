"""dspy's ReAct, as it is, and modules of other kinds."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

import anyio
import pytest

from greenroom import from_dspy
from greenroom.agents.frameworks import FrameworkAgent
from greenroom.benchmark import Episode, RunConfig, RunContext, play_episode
from greenroom.domains.domain import Domain
from greenroom.domains.tasks import RESPOND, Action
from greenroom.errors import InputError
from greenroom.models import Completion, FakeModel, Model, ModelRequest, ModelUnavailable
from greenroom.workflows import Call, CallError, LocalTarget
from tests.agents import framework_agents
from tests.agents.test_frameworks import always

# dspy takes seconds to load. Filters of warnings are the process's: what dspy hides in one task,
# another would see raised.
pytestmark = [pytest.mark.slow, pytest.mark.anyio, pytest.mark.filterwarnings("ignore")]

ASKED_FIRST = "May I go ahead?"


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


def patient_user(_: object) -> PatientUser:
    return PatientUser()


async def play(
    domain: Domain,
    tasks: list[int],
    model: Model,
    *,
    agent: FrameworkAgent | None = None,
    trial: int = 0,
    **config: Any,
) -> list[Episode]:
    """The tasks, side by side."""
    strategy = replace(
        (agent or framework_agents.dspy()).strategy,
        create_user=patient_user,
        create_model=always(model),
    )
    episodes: list[Episode] = []
    async with RunContext(domain, strategy, RunConfig(**config)).opened() as context:

        async def one(task: int) -> None:
            episodes.append(await play_episode(context, task, trial=trial))

        async with anyio.create_task_group() as group:
            for task in tasks:
                group.start_soon(one, task)
    return episodes


async def test_it_solves_tasks_side_by_side(retail: Domain) -> None:
    episodes = await play(retail, list(range(12)), KnowingModel(retail))
    assert [episode.error for episode in episodes] == [None] * 12
    assert [episode.outcome for episode in episodes] == ["success"] * 12
    for episode in episodes:
        actions = [Action(step.action.name, step.action.kwargs) for step in episode.steps]
        truth = [a for a in retail.task(episode.task_index).actions if a.name != RESPOND]
        spoken = [action for action in actions if action.name == RESPOND]
        assert [action for action in actions if action.name != RESPOND] == truth
        assert len(spoken) == (1 if episode.steps[-1].action.name != RESPOND else 2)


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
    (episode,) = await play(retail, [5], model)
    assert [step.action.name for step in episode.steps] == ["think", "respond", "respond"]
    first, *_, last = [request.messages for request in model.requests]
    assert [message["role"] for message in first] == ["system", "user"]
    for said in (retail.policy.splitlines()[0], "cancel_pending_order", "finish"):
        assert said in first[0]["content"]
    assert f"User: {retail.task(5).instruction}" in first[1]["content"]
    for said in ('You called think with {"thought": "Hm."}: ', "You: Shall I?", "User: Yes, go"):
        assert said in last[1]["content"]


async def test_nothing_is_asked_after_the_end(retail: Domain) -> None:
    model = FakeModel([call("transfer_to_human_agents", summary="No idea."), call("finish")])
    (episode,) = await play(retail, [5], model)
    assert [step.action.name for step in episode.steps] == ["transfer_to_human_agents"]
    assert episode.outcome == "failure"
    assert len(model.requests) == 1


@pytest.mark.parametrize("nonsense", ["What?", "", written(next_thought="Hm.")])
async def test_nonsense_is_the_agents_own_failure(retail: Domain, nonsense: str) -> None:
    (episode,) = await play(retail, [5], FakeModel([nonsense]))
    assert (episode.outcome, episode.steps) == ("invalid", ())


async def test_an_empty_reply_is_not_said(retail: Domain) -> None:
    (episode,) = await play(retail, [5], FakeModel([call("finish"), reply("")]))
    assert (episode.outcome, episode.steps) == ("invalid", ())


async def test_a_model_without_an_answer_is_nobodys_failure(retail: Domain) -> None:
    model = FakeModel([call("think", thought="Hm."), ModelUnavailable("No answer.")])
    (episode,) = await play(retail, [5], model)
    assert episode.outcome == "infrastructure_error"
    assert episode.error == "ModelUnavailable: No answer."
    assert len(model.requests) == 2  # dspy does not try again: that is the client's


async def test_an_episode_can_run_out_of_time(retail: Domain) -> None:
    class Endless:
        async def complete(self, request: ModelRequest) -> Completion:
            await anyio.sleep_forever()
            raise AssertionError

    (episode,) = await play(retail, [5], Endless(), max_episode_seconds=0.2)
    assert episode.outcome == "max_time"


async def test_every_trial_asks_its_own_questions(retail: Domain) -> None:
    # dspy's cache would answer the second trial, and the model would never be asked.
    model = KnowingModel(retail)
    for trial in range(2):
        await play(retail, [5], model, trial=trial)
    half = len(model.requests) // 2
    assert half > 2
    asked = [request.messages for request in model.requests]
    assert asked[:half] == asked[half:]


async def test_dspy_keeps_nothing_of_an_episode(retail: Domain) -> None:
    base_lm, dspy = import_module("dspy.clients.base_lm"), import_module("dspy")

    def kept() -> tuple[int, int, Any]:
        return len(base_lm.GLOBAL_HISTORY), len(dspy.settings.trace or ()), dspy.settings.lm

    before = kept()
    (episode,) = await play(retail, [5], KnowingModel(retail))
    assert episode.outcome == "success"
    assert kept() == before


async def test_its_own_tools_and_instructions_are_kept(retail: Domain) -> None:
    dspy = import_module("dspy")

    def weather(place: str) -> str:
        """Look at the sky."""
        return f"It rains in {place}."

    signature = dspy.Signature("conversation -> reply", "You are kind.")
    agent = from_dspy(dspy.ReAct(signature, tools=[weather]), name="clerk")
    ended = [call("finish"), reply("Bye.")]
    model = FakeModel([call("weather", place="Rome"), *ended, *ended])
    (episode,) = await play(retail, [5], model, agent=agent)
    assert [step.action.name for step in episode.steps] == ["respond", "respond"]
    asked = model.requests[1].messages
    assert "You are kind." in asked[0]["content"]
    assert retail.policy.splitlines()[0] in asked[0]["content"]
    assert "It rains in Rome." in asked[1]["content"]


async def test_a_module_that_blocks_is_built_from_what_is_offered(retail: Domain) -> None:
    dspy = import_module("dspy")

    class Desk(dspy.Module):
        def __init__(self, tools: list[Any], policy: str) -> None:
            dspy.Module.__init__(self)
            self.tools = {tool.name: tool for tool in tools}
            self.answer = dspy.Predict(dspy.Signature("question, history: dspy.History -> reply"))
            self.policy = policy

        def forward(self, question: str, history: Any) -> Any:
            seen = self.tools["think"](thought=question)
            assert seen == ""
            return self.answer(question=question, history=history)

    def build(tools: list[Any], instructions: str) -> Any:
        return Desk(tools, instructions)

    agent = from_dspy(build, name="desk")
    model = FakeModel([written(reply="Shall I?"), written(reply="Bye.")])
    (episode,) = await play(retail, [5], model, agent=agent)
    assert [step.action.name for step in episode.steps] == ["think", "respond"] * 2
    assert episode.steps[2].action.kwargs == {"thought": "Yes, go ahead."}
    said = [one["content"] for one in model.requests[1].messages]
    assert any("Shall I?" in text for text in said[:-1]), "the history has earlier turns"


async def test_a_module_answers_calls_and_cannot_play_without_tools(retail: Domain) -> None:
    dspy = import_module("dspy")

    class Shout(dspy.Module):
        def forward(self, question: str) -> Any:
            return dspy.Prediction(reasoning="None.", answer=question.upper())

    shout = from_dspy(Shout(), name="shout")
    messages = [{"role": "user", "content": "hello"}]
    answer = await LocalTarget(shout).call(Call(inputs={"messages": messages}))
    assert answer.outputs == {"role": "assistant", "content": "USER: HELLO"}
    picture: Any = [{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}]
    messages = [{"role": "user", "content": picture}]
    with pytest.raises(CallError, match="which reads text, cannot be told a part of type 'image"):
        await LocalTarget(shout).call(Call(inputs={"messages": messages}))
    with pytest.raises(InputError, match="takes no tools, so it cannot play"):
        await play(retail, [5], FakeModel([""]), agent=shout)


async def test_what_an_optimizer_has_learned_is_kept(retail: Domain) -> None:
    dspy = import_module("dspy")

    def weather(place: str) -> str:
        """Look at the sky."""
        return place

    module = dspy.ReAct("conversation -> reply", tools=[weather])
    for predictor, learned in ((module.react, "Look twice."), (module.extract.predict, "Rhyme.")):
        predictor.signature = predictor.signature.with_instructions(learned)
    ended = [call("finish"), reply("Bye.")]
    model = FakeModel([call("think", thought="Hm."), *ended, *ended])
    (episode,) = await play(retail, [5], model, agent=from_dspy(module, name="clerk"))
    assert [step.action.name for step in episode.steps] == ["think", "respond", "respond"]
    acting, _, speaking, *_ = [request.messages[0]["content"] for request in model.requests]
    for text, learned in ((acting, "Look twice."), (speaking, "Rhyme.")):
        assert learned in text
        assert retail.policy.splitlines()[0] in text
    assert "cancel_pending_order, whose description is" in acting
    assert "cancel_pending_order" not in speaking
    assert module.react.signature.instructions == "Look twice."


async def test_a_react_of_a_class_of_its_own_stays_one(retail: Domain) -> None:
    dspy = import_module("dspy")

    class Polite(dspy.ReAct):
        async def aforward(self, **inputs: Any) -> Any:
            prediction = await dspy.ReAct.aforward(self, **inputs)
            prediction.reply += self.farewell
            return prediction

    module = Polite("conversation -> reply", tools=[])
    module.farewell = " Yours truly."
    ended = [call("finish"), reply("Bye.")]
    model = FakeModel([call("think", thought="Hm."), *ended, *ended])
    (episode,) = await play(retail, [5], model, agent=from_dspy(module, name="clerk"))
    assert [step.action.name for step in episode.steps] == ["think", "respond", "respond"]
    assert episode.steps[-1].action.kwargs == {"content": "Bye. Yours truly."}
    assert set(module.tools) == {"finish"}


async def test_a_model_of_its_own_is_asked_without_another_one_only(retail: Domain) -> None:
    dspy = import_module("dspy")
    utils = import_module("dspy.utils")
    module = dspy.ReAct("conversation -> reply", tools=[])
    finish = {"next_thought": "Hm.", "next_tool_name": "finish", "next_tool_args": "{}"}
    said = {"reasoning": "None.", "reply": "Hello."}
    own = utils.DummyLM([finish, said] * 2)
    module.set_lm(own)
    agent = from_dspy(module, name="clerk")
    strategy = replace(agent.strategy, create_user=patient_user)
    async with RunContext(retail, strategy, RunConfig()).opened() as context:
        episode = await play_episode(context, 5)
    assert [step.action.kwargs for step in episode.steps] == [{"content": "Hello."}] * 2

    model = FakeModel([call("finish"), reply("Bye.")] * 2)
    (episode,) = await play(retail, [5], model, agent=agent)
    assert [step.action.kwargs for step in episode.steps] == [{"content": "Bye."}] * 2

    def build(tools: list[Any]) -> Any:
        return module

    with pytest.RaisesGroup(pytest.RaisesExc(InputError, match="has a model of its own")):
        await play(retail, [5], model, agent=from_dspy(build))


async def test_a_tool_with_a_name_of_the_domains_is_told(retail: Domain) -> None:
    dspy = import_module("dspy")

    def think(thought: str) -> str:
        """Think otherwise."""
        return thought

    agent = from_dspy(dspy.ReAct("conversation -> reply", tools=[think]), name="clerk")
    with pytest.RaisesGroup(pytest.RaisesExc(InputError, match="a tool 'think' of its own")):
        await play(retail, [5], FakeModel([call("finish")]), agent=agent)
