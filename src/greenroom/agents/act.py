"""The act agent: the model writes each action as text, after a thought if asked for one."""

from __future__ import annotations

from pydantic import Field

from greenroom.agents.conversation import ModelAgentSettings
from greenroom.agents.strategies import AgentStrategy
from greenroom.agents.text_protocol import WrittenActionAgent


class ActSettings(ModelAgentSettings):
    """The settings of the act agent."""

    use_reasoning: bool = Field(default=False, description="Write a thought before each action.")


strategy = AgentStrategy(
    "act",
    WrittenActionAgent,
    "a language model that writes its actions as text",
    settings=ActSettings,
    needs_model=True,
)
