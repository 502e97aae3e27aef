"""The few-shot agent: a tool-calling agent that is shown examples of conversations first.

The examples come from a JSON Lines file in Tau Bench's form, `{"messages_display": "..."}` on each
line. Which of them an episode sees is a pure function of its seed.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from greenroom.agents import tool_calling
from greenroom.agents.conversation import Unreadable, read_object, whole_number
from greenroom.agents.strategies import Agent, AgentContext, AgentStrategy, Stage
from greenroom.agents.tool_calling import ToolCallingAgent
from greenroom.domains.packs import read_text
from greenroom.errors import DataError, InputError

FILE = "few_shot_displays_path"
COUNT = "num_few_shots"
OPTIONS = {
    FILE: 'a JSON Lines file of examples, {"messages_display": "..."} on each line',
    COUNT: "how many examples an episode is shown (default 5)",
    **tool_calling.OPTIONS,
}

_DEFAULT_COUNT = 5

_INTRODUCTION = """

# Examples

Below are conversations that were handled well, with other users about other matters. Go by how they
were handled; none of their names, numbers and wishes belong to the user whom you are serving."""


class FewShotAgent(ToolCallingAgent):
    """Calls tools natively, with examples behind the policy."""

    def __init__(self, context: AgentContext, examples: Sequence[str]) -> None:
        super().__init__(context)
        self._examples = examples

    def _system(self, stage: Stage) -> str:
        shown = [f"\n\n## Example {n}\n\n{text}" for n, text in enumerate(self._examples, 1)]
        return stage.policy + _INTRODUCTION + "".join(shown)


@lru_cache(maxsize=4)
def load_examples(path: Path) -> tuple[str, ...]:
    """The conversations of an examples file."""
    examples = [
        _example(path, number, line)
        # Not splitlines: JSON may hold characters that it takes for the end of a line.
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


def draw_examples(options: Mapping[str, str], seed: int) -> list[str]:
    """The examples that the episode with this seed is shown."""
    examples, count = _examples_and_count(options)
    return random.Random(f"few-shot/{seed}").sample(examples, count)  # noqa: S311


def _examples_and_count(options: Mapping[str, str]) -> tuple[tuple[str, ...], int]:
    if not options.get(FILE):
        raise InputError(f"The few-shot agent needs examples: --agent-option {FILE}=FILE.jsonl.")
    path, count = Path(options[FILE]), whole_number(options, COUNT, _DEFAULT_COUNT)
    examples = load_examples(path)
    if count > len(examples):
        raise DataError(
            f"{path} has {len(examples)} examples, and {count} should be shown: "
            f"--agent-option {COUNT}={len(examples)} shows them all."
        )
    return examples, count


def _check_options(options: Mapping[str, str]) -> None:
    tool_calling.check_options(options)
    _examples_and_count(options)


def _create(context: AgentContext) -> Agent:
    return FewShotAgent(context, draw_examples(context.options, context.episode_seed))


strategy = AgentStrategy(
    "few-shot",
    _create,
    "a tool-calling language model that is shown examples first",
    options=OPTIONS,
    check_options=_check_options,
    needs_model=True,
)
