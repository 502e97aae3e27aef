"""The few-shot agent: a tool-calling agent with example conversations in its prompt.

The examples come from a JSON Lines file in Tau Bench's form, `{"messages_display": "..."}` on each
line. Which of them an episode sees is a pure function of its seed.
"""

from __future__ import annotations

import random
from functools import lru_cache
from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from greenroom.agents.conversation import Unreadable, read_object
from greenroom.agents.strategies import AgentContext, AgentStrategy, Stage
from greenroom.agents.tool_calling import ToolCallingAgent, ToolCallingSettings, write_reply
from greenroom.domains.packs import read_text
from greenroom.errors import DataError
from greenroom.options import Count

_INTRODUCTION = """

# Examples

Below are conversations that were handled well, with other users about other matters. Go by how they
were handled; none of their names, numbers and wishes belong to the user whom you are serving."""


class FewShotSettings(ToolCallingSettings):
    """The settings of the few-shot agent."""

    few_shot_displays_path: Path = Field(
        description='A JSON Lines file of examples, {"messages_display": "..."} on each line.'
    )
    num_few_shots: Count = Field(default=5, description="How many examples an episode is shown.")

    @model_validator(mode="after")
    def _check_examples(self) -> Self:
        path, count = self.few_shot_displays_path, len(load_examples(self.few_shot_displays_path))
        if self.num_few_shots > count:
            raise DataError(
                f"{path} has {count} examples, and {self.num_few_shots} should be shown: "
                f"--num-few-shots {count} shows them all."
            )
        return self


class FewShotAgent(ToolCallingAgent):
    """Calls tools natively, with examples after the policy."""

    def __init__(self, context: AgentContext) -> None:
        super().__init__(context)
        # One that takes over has the examples that the episode began with.
        seed = context.seed if context.history is None else context.history.seed
        self._examples = draw_examples(context.settings, seed)

    def _system(self, stage: Stage) -> str:
        shown = [f"\n\n## Example {n}\n\n{text}" for n, text in enumerate(self._examples, 1)]
        return stage.policy + _INTRODUCTION + "".join(shown)


@lru_cache(maxsize=4)
def load_examples(path: Path) -> tuple[str, ...]:
    """The conversations of an examples file."""
    examples = [
        _example(path, number, line)
        # splitlines() would also split at characters that JSON text may contain.
        for number, line in enumerate(read_text(path).split("\n"), 1)
        if line.strip()
    ]
    if not examples:
        raise DataError(f"{path} has no examples.")
    return tuple(examples)


def _example(path: Path, number: int, line: str) -> str:
    try:
        text = read_object(line).get("messages_display")
    except Unreadable as problem:
        raise DataError(f"{path}, line {number} is not a JSON object: {problem}.") from None
    if not isinstance(text, str) or not text.strip():
        raise DataError(
            f"{path}, line {number} has no text 'messages_display': each line should be "
            '{"messages_display": "..."}.'
        )
    return text


def draw_examples(settings: FewShotSettings, seed: int) -> list[str]:
    """The examples for the episode with this seed."""
    examples = load_examples(settings.few_shot_displays_path)
    return random.Random(f"few-shot/{seed}").sample(examples, settings.num_few_shots)  # noqa: S311


strategy = AgentStrategy(
    "few-shot",
    FewShotAgent,
    "a tool-calling language model that is shown examples first",
    settings=FewShotSettings,
    needs_model=True,
    write_reply=write_reply,
)
