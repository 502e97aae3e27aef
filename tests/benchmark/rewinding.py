"""Agents and users whose every word is a function of what they were told."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from greenroom.agents import AgentContext, AgentStrategy
from greenroom.benchmark import Episode, RunContext, check_config, episode_record, play_episode
from greenroom.benchmark.rewind import history_of
from greenroom.domains.domain import Domain
from greenroom.domains.tasks import STOP, Action
from greenroom.models import Completion, ModelRequest
from greenroom.store import EpisodeRecord
from greenroom.users import UserStrategy


@dataclass
class WhimsicalModel:
    """Replies by chance, and chance is made of the messages: tools, words, nonsense, nothing."""

    actions: Sequence[Action]
    form: str
    seed: int = 0
    asked: list[list[dict[str, Any]]] = field(default_factory=list[list[dict[str, Any]]])

    async def complete(self, request: ModelRequest) -> Completion:
        messages = [dict(message) for message in request.messages]
        self.asked.append(messages)
        draw = random.Random(f"{self.seed}/{json.dumps(messages)}")
        return Completion(message=getattr(self, f"_{self.form}")(draw))

    def _native(self, draw: random.Random) -> dict[str, Any]:
        kind = draw.choice(["call", "call", "calls", "words", "empty", "broken"])
        if kind in ("words", "empty"):
            return {"role": "assistant", "content": f"Word {draw.random()}" * (kind == "words")}
        number = draw.randint(2, 4) if kind == "calls" else 1
        calls = [self._call(draw, broken=kind != "call") for _ in range(number)]
        said = draw.choice([None, "Let me see."])
        return {"role": "assistant", "content": said, "tool_calls": calls, "reasoning": "Hm."}

    def _call(self, draw: random.Random, *, broken: bool) -> dict[str, Any]:
        action = draw.choice(self.actions)
        arguments = json.dumps(dict(action.kwargs))
        if broken and draw.random() < 0.3:
            arguments = draw.choice(["{", "[]", '"x"'])
        call_id = draw.choice([f"call-{draw.random()}", "same", None])
        return {"id": call_id, "function": {"name": action.name, "arguments": arguments}}

    def _text(self, draw: random.Random) -> dict[str, Any]:
        action = draw.choice([*self.actions, Action("respond", {"content": f"{draw.random()}"})])
        written = json.dumps({"name": action.name, "arguments": dict(action.kwargs)})
        content = draw.choice(
            [f"Thought:\nHm.\nAction:\n{written}"] * 4 + ["", "Action: {", f"Hello {draw.random()}"]
        )
        return {"role": "assistant", "content": content}

    def _structured(self, draw: random.Random) -> dict[str, Any]:
        action = draw.choice([*self.actions, Action("respond", {"content": f"{draw.random()}"})])
        written = {"action": {"name": action.name, "arguments": dict(action.kwargs)}}
        return {"role": "assistant", "content": draw.choice([json.dumps(written)] * 4 + ["", "Oh"])}


FORMS = {
    "tool-calling": "native",
    "few-shot": "native",
    "act": "text",
    "react": "text",
    "structured": "structured",
}


def whimsical(strategy: AgentStrategy, model: WhimsicalModel) -> AgentStrategy:
    """The strategy with a model of its own."""

    def create_model(_: AgentContext) -> WhimsicalModel:
        return model

    return replace(strategy, needs_model=False, create_model=create_model)


class ChattyUser:
    """Says something for a while, which depends on what it heard and on nothing else."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    async def open(self, instruction: str) -> str:
        return f"Please: {instruction}"

    async def reply(self, content: str) -> str:
        draw = random.Random(f"{self._seed}/{content}")
        return STOP if draw.random() < 0.1 else f"Go on {draw.random()}"


def chatty(seed: int) -> UserStrategy:
    """A user that asks no model and has no method `take_over`."""
    return UserStrategy("chatty", lambda _: ChattyUser(seed))


@dataclass
class Played:
    """An episode with what its model was asked."""

    context: RunContext
    model: WhimsicalModel
    episode: Episode
    record: EpisodeRecord
    world: str
    """The hash of the database in the end."""


async def played(
    domain: Domain,
    strategy: AgentStrategy,
    task: int,
    seed: int,
    *,
    steps: int = 12,
    options: dict[str, Any] | None = None,
) -> Played:
    """An episode of a whimsical agent."""
    model = WhimsicalModel(domain.task(task).actions, FORMS[strategy.name], seed)
    fields = {"env": domain.name, "max_num_steps": steps, "agent_options": options or {}}
    config = check_config(fields)
    context = RunContext(domain, whimsical(strategy, model), config, chatty(seed))
    return await _played(context, model, task)


async def played_on(
    before: Played, steps: int, *, own: bool = True, seed: int | None = None, trial: int = 0
) -> Played:
    """The same agent from a place in the episode."""
    model = replace(before.model, asked=[], seed=before.model.seed if seed is None else seed)
    history = history_of(before.record, steps, own=own)
    strategy = whimsical(before.context.strategy, model)
    context = replace(before.context, strategy=strategy, history=history)
    return await _played(context, model, before.record.task_index, trial)


async def _played(context: RunContext, model: WhimsicalModel, task: int, trial: int = 0) -> Played:
    episode = await play_episode(context, task, trial=trial)
    record = episode_record(context.domain, episode, split="test")
    world = "" if episode.details is None else episode.details.worlds.agent.hash()
    return Played(context, model, episode, record, world)
