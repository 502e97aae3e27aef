"""Agents of frameworks go on from the middle of an episode as if they had never stopped."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, replace
from typing import Any

import anyio
import pytest

from greenroom.agents.frameworks import FrameworkAgent
from greenroom.benchmark import RunContext, check_config, episode_record, play_episode
from greenroom.benchmark.rewind import history_of, turn_starts
from greenroom.domains.domain import Domain
from greenroom.models import Completion, ModelRequest
from tests.agents import framework_agents
from tests.benchmark.rewinding import WhimsicalModel, chatty, whimsical

pytestmark = pytest.mark.slow  # frameworks take seconds to load


@dataclass
class OrderlyModel(WhimsicalModel):
    """Calls what there is, with arguments that can be read and ids of its own."""

    async def complete(self, request: ModelRequest) -> Completion:
        messages = [dict(message) for message in request.messages]
        self.asked.append(messages)
        draw = random.Random(f"{self.seed}/{json.dumps(messages, sort_keys=True)}")
        if draw.random() < 0.4:
            return Completion(message={"role": "assistant", "content": f"Word {draw.random()}"})
        made = [self._made(draw) for _ in range(draw.randint(1, 3))]
        return Completion(message={"role": "assistant", "content": None, "tool_calls": made})

    def _made(self, draw: random.Random) -> dict[str, Any]:
        action = draw.choice(self.actions)
        function = {"name": action.name, "arguments": json.dumps(dict(action.kwargs))}
        return {"id": f"call-{draw.random()}", "type": "function", "function": function}


@pytest.mark.parametrize(
    "make",
    [
        framework_agents.langgraph,
        framework_agents.openai_agents,
        framework_agents.pydantic_ai,
        framework_agents.awaiting,
        framework_agents.blocking,
    ],
)
def test_it_goes_on_as_if_it_had_never_stopped(retail: Domain, make: Any) -> None:
    agent: FrameworkAgent = make()

    async def check(seed: int) -> int:
        model = OrderlyModel(retail.task(5).actions, "native", seed)
        config = check_config({"env": "retail", "max_num_steps": 12})
        context = RunContext(retail, whimsical(agent.strategy, model), config, chatty(seed))
        async with context.opened() as opened:
            before = await play_episode(opened, 5)
        assert before.error is None
        record = episode_record(retail, before, split="test")
        starts = [start for start in turn_starts(record) if start < 12]
        for start in starts:
            again = replace(model, asked=[])
            later = replace(
                context,
                strategy=whimsical(agent.strategy, again),
                history=history_of(record, start, own=True),
            )
            async with later.opened() as opened:
                after = await play_episode(opened, 5)
            assert again.asked == model.asked[-len(again.asked) :]
            assert episode_record(retail, after, split="test").steps == record.steps
            assert after.messages == before.messages
        return len(starts)

    async def check_all() -> int:
        return sum([await check(seed) for seed in range(2)])

    assert anyio.run(check_all) > 3
