"""A user played by a language model."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from greenroom.models import ModelRequest, ModelUnavailable
from greenroom.users import prompts
from greenroom.users.strategies import UserContext, UserStrategy, required_model

if TYPE_CHECKING:
    from greenroom.models import ChatMessage, Model

_REASONING: Final = re.compile(
    r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE
)
_REASONING_END: Final = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Line:
    """A message of the simulated user."""

    said: str
    """The text for the agent; never empty."""
    kept: str
    """The text in the user's own conversation."""


class LlmUser:
    """Plays the customer of an instruction.

    The conversation is kept from the user's side: the agent's messages have the role "user", its
    own the role "assistant". A failed call leaves it unchanged.
    """

    def __init__(
        self, model: Model, *, seed: int | None = None, greeting: str = prompts.AGENT_GREETING
    ) -> None:
        self._model = model
        self._seed = seed
        self._greeting = greeting
        self.instruction = ""
        self._conversation: list[ChatMessage] = []

    async def open(self, instruction: str) -> str:
        self.instruction = instruction
        self._conversation = []
        system: ChatMessage = {"role": "system", "content": self.system_prompt(instruction)}
        return await self._answer([system], self._greeting)

    async def reply(self, content: str) -> str:
        if not self._conversation:
            raise RuntimeError("A simulated user has to open the conversation before it replies.")
        return await self._answer(self._conversation, content)

    def system_prompt(self, instruction: str) -> str:
        """The system prompt for the model."""
        return prompts.part(instruction)

    async def next_line(self, conversation: Sequence[ChatMessage]) -> Line:
        """The user's reply to the last message."""
        return await self.ask(conversation)

    async def ask(self, messages: Sequence[ChatMessage], read: Callable[[str], str] = str) -> Line:
        """The model's answer, with the text that `read` finds in it.

        If `read` finds none, the model is reminded and asked once more.
        """
        for attempt in (messages, prompts.with_direction(messages, prompts.REMINDER)):
            words = await self.words(attempt)
            said = read(words)
            if said:
                return Line(said, kept=words)
        raise ModelUnavailable("The simulated user's model gave an empty answer twice.")

    async def words(self, messages: Sequence[ChatMessage]) -> str:
        """The model's answer to the messages; it may be empty."""
        request = ModelRequest(messages=list(messages), seed=self._seed)
        return without_reasoning((await self._model.complete(request)).text)

    async def _answer(self, conversation: Sequence[ChatMessage], heard: str) -> str:
        content = heard if heard.strip() else prompts.SILENCE
        so_far = [*conversation, {"role": "user", "content": content}]
        line = await self.next_line(so_far)
        self._conversation = [*so_far, {"role": "assistant", "content": line.kept}]
        return line.said


def without_reasoning(text: str) -> str:
    """The text without the leading reasoning of some models in think tags."""
    return _REASONING_END.sub("", _REASONING.sub("", text)).strip()


def _create(context: UserContext) -> LlmUser:
    return LlmUser(required_model(context, "llm"), seed=context.seed)


strategy = UserStrategy("llm", _create, "a language model plays the customer", needs_model=True)
