"""A user played by a language model that thinks before it speaks; the thoughts stay with it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from greenroom.domains.tasks import STOP
from greenroom.users import prompts
from greenroom.users.llm import Line, LlmUser
from greenroom.users.strategies import UserContext, UserStrategy, required_model

if TYPE_CHECKING:
    from greenroom.models import ChatMessage

_DECORATION: Final = r"[ \t>#*_`-]*"
_COLON: Final = r"[ \t*_`]*[:：][*_`]*"
_RESPONSE_NAME: Final = r"user[ \t]+response"
_THOUGHT_NAME: Final = r"(?:thoughts?|reflections?)"

_RESPONSE_LINE: Final = re.compile(
    rf"^{_DECORATION}{_RESPONSE_NAME}{_COLON}", re.IGNORECASE | re.MULTILINE
)
_RESPONSE_ANYWHERE: Final = re.compile(rf"[*_`]{{0,3}}{_RESPONSE_NAME}{_COLON}", re.IGNORECASE)
_THOUGHT: Final = re.compile(
    rf"(?m:^){_DECORATION}(?i:{_THOUGHT_NAME}){_COLON}"
    rf"|[*_`]{{0,3}}(?<![^\W_])(?:Thoughts?|Reflections?){_COLON}"
)
_PARAGRAPH_END: Final = re.compile(r"\n[ \t]*\n")


def spoken_part(raw: str) -> str:
    """What of a labelled answer is meant for the agent; empty if nothing is.

    The last "User Response:" with words behind it counts, up to the next thought; labels at the
    beginning of a line go before those inside one, which a thought may well mention. Without the
    label, it is every paragraph that is no thought.
    """
    text = raw.replace("\r\n", "\n")
    responses = _RESPONSE_LINE.split(text)[1:] or _RESPONSE_ANYWHERE.split(text)[1:]
    if not responses:
        paragraphs = (_before_thought(part) for part in _PARAGRAPH_END.split(text))
        return "\n\n".join(part for part in paragraphs if part)
    said = (
        part.strip()
        for response in reversed(responses)
        for part in reversed(_RESPONSE_ANYWHERE.split(_before_thought(response)))
    )
    return next((part for part in said if part), "")


def _before_thought(text: str) -> str:
    return _THOUGHT.split(text, maxsplit=1)[0].strip()


class ReactUser(LlmUser):
    """Writes a thought and a response; the agent gets the response, or STOP if it is anywhere."""

    def system_prompt(self, instruction: str) -> str:
        return prompts.part_with_thoughts(instruction)

    async def next_line(self, conversation: Sequence[ChatMessage]) -> Line:
        return await self.ask(conversation, _response_or_stop)


def _response_or_stop(raw: str) -> str:
    return STOP if STOP in raw else spoken_part(raw)


def _create(context: UserContext) -> ReactUser:
    return ReactUser(required_model(context, "react"), seed=context.seed)


strategy = UserStrategy(
    "react", _create, "a language model that thinks before it speaks", needs_model=True
)
