"""The react agent: the model writes a thought, then an action, both as text."""

from __future__ import annotations

from pydantic import Field

from greenroom.agents.act import ActSettings
from greenroom.agents.strategies import AgentStrategy
from greenroom.agents.text_protocol import WrittenActionAgent


class ReactSettings(ActSettings):
    """The settings of the react agent."""

    use_reasoning: bool = Field(default=True, description="Write a thought before each action.")


strategy = AgentStrategy(
    "react",
    WrittenActionAgent,
    "a language model that writes a thought and then its action as text",
    settings=ReactSettings,
    needs_model=True,
)
