"""A plain dspy.ReAct agent as a strategy of Greenroom: the place to copy from.

    pip install -e examples/dspy_react
    greenroom run --agent-strategy dspy-react --model gpt-4o --user-model gpt-4o

Any framework is brought in like this: its tools step the stage, and its questions to a language
model go to `context.model`. The rest is the framework's own.
"""

from __future__ import annotations

from collections.abc import Mapping

from greenroom.agents import Agent, AgentContext, AgentStrategy
from greenroom.errors import InputError

DEFAULT_ITERATIONS = 10


def _max_iters(options: Mapping[str, str]) -> int:
    text = options.get("max_iters", str(DEFAULT_ITERATIONS))
    if not (text.isascii() and text.isdecimal() and 0 < int(text) <= 1000):
        raise InputError(
            f"The dspy-react agent's max_iters must be a number from 1 to 1000, not '{text}'."
        )
    return int(text)


def _check_options(options: Mapping[str, str]) -> None:
    _max_iters(options)


def _create(context: AgentContext) -> Agent:
    # Only now: dspy takes a while to import, and commands that list strategies need not wait.
    from greenroom_dspy.agent import DspyReactAgent

    assert context.model is not None, "a strategy that needs a model was made without one"
    return DspyReactAgent(context.model, _max_iters(context.options))


strategy = AgentStrategy(
    "dspy-react",
    _create,
    "dspy's ReAct, with the tools of the domain",
    options={
        "max_iters": f"the most calls before a reply to the user (default {DEFAULT_ITERATIONS})"
    },
    check_options=_check_options,
    needs_model=True,
)
