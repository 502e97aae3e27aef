"""A plain dspy.ReAct agent as a strategy of Greenroom: the place to copy from.

    pip install -e examples/dspy_react
    greenroom run --agent-strategy dspy-react --model gpt-4o --user-model gpt-4o

Any framework is brought in like this: its tools step the stage, and its questions to a language
model go to `context.model`. The rest is the framework's own.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from greenroom.agents import Agent, AgentContext, AgentStrategy
from greenroom.options import Settings

DEFAULT_ITERATIONS = 10


class ReactSettings(Settings):
    """The settings of the agent."""

    max_iters: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=DEFAULT_ITERATIONS, description="The most calls before a reply to the user."
    )


def _create(context: AgentContext) -> Agent:
    # Import dspy on first use: it is slow, and commands that list strategies need not wait.
    from greenroom_dspy.agent import DspyReactAgent

    assert context.model is not None, "a strategy that needs a model was made without one"
    return DspyReactAgent(context.model, context.settings.max_iters)


strategy = AgentStrategy(
    "dspy-react",
    _create,
    "dspy's ReAct, with the tools of the domain",
    settings=ReactSettings,
    needs_model=True,
)
