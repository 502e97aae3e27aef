"""dspy.ReAct plays an episode: each user message is one run of it, and its answer is said."""
# dspy carries no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import dspy
from dspy.utils.exceptions import AdapterParseError

from greenroom.agents import Stage
from greenroom.agents.threads import ThreadModel, ThreadStage, play_in_thread
from greenroom.domains import Action, respond
from greenroom.models import Model
from greenroom_dspy.engine import GreenroomEngine


class Answer(dspy.Signature):
    """What dspy is to do at each turn; the domain's policy takes the place of this sentence."""

    conversation: str = dspy.InputField()
    reply: str = dspy.OutputField(desc="what the user is told")


class DspyReactAgent:
    """Lets dspy decide on tools and replies; every action goes through the stage."""

    def __init__(self, model: Model, max_iters: int) -> None:
        self._model = model
        self._max_iters = max_iters

    async def play(self, stage: Stage) -> None:
        """Step until the episode is over, in a thread, because dspy is synchronous."""
        await play_in_thread(stage, self._model, self._converse)

    def _converse(self, stage: ThreadStage, model: ThreadModel) -> None:
        # Greenroom caches, retries and records. dspy would keep the history of all episodes in
        # this process.
        lm = dspy.LM("greenroom/agent", engine=GreenroomEngine(model), cache=False, num_retries=0)
        signature = Answer.with_instructions(stage.policy)
        tools = [_tool(stage, info["function"]) for info in stage.tool_infos]
        react = dspy.ReAct(signature, tools=tools, max_iters=self._max_iters)
        conversation = [f"User: {stage.opening}"]
        with dspy.context(lm=lm, adapter=dspy.ChatAdapter(), disable_history=True, trace=None):
            while not stage.over:
                try:
                    answer = react(conversation="\n".join(conversation))
                except AdapterParseError:
                    return  # what the model wrote makes no sense to dspy: the agent gives up
                reply = str(answer.reply or "").strip()
                if not reply:
                    return
                conversation += _calls(answer.trajectory)
                conversation.append(f"You: {reply}")
                conversation.append(f"User: {stage.step(respond(reply))}")


def _tool(stage: ThreadStage, function: Mapping[str, Any]) -> dspy.Tool:
    name = str(function["name"])

    def call(**kwargs: Any) -> str:
        return stage.step(Action(name, kwargs))

    return dspy.Tool(
        call,
        name=name,
        desc=str(function["description"]),
        args=dict(function["parameters"]["properties"]),
        arg_types={},
    )


def _calls(trajectory: Mapping[str, Any]) -> list[str]:
    """The actions before a reply, for the next run of ReAct, which starts without history."""
    lines: list[str] = []
    for number in range(len(trajectory)):
        name = trajectory.get(f"tool_name_{number}")
        if name is None or name == "finish":
            break
        arguments = json.dumps(trajectory[f"tool_args_{number}"])
        lines.append(f"You called {name} with {arguments}: {trajectory[f'observation_{number}']}")
    return lines
