"""A user played by a language model whose drafts are reviewed before they are sent."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from greenroom.users import prompts
from greenroom.users.llm import Line, LlmUser
from greenroom.users.strategies import UserContext, UserStrategy, required_model

if TYPE_CHECKING:
    from greenroom.models import ChatMessage

MAX_DRAFTS: Final = 3

_VERDICT: Final = re.compile(r"verdict[\W_]*(accept|reject)\w*", re.IGNORECASE)
_REASON: Final = re.compile(r"\A[\s*_]*reason[ *_]*:", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Review:
    """The review of a draft."""

    accepted: bool
    reason: str


def read_review(text: str) -> Review:
    """The review in a model's answer; a draft without a readable verdict is accepted."""
    verdicts = list(_VERDICT.finditer(text))
    if not verdicts:
        return Review(accepted=True, reason=text.strip())
    last = verdicts[-1]
    rest = (text[: last.start()] + text[last.end() :]).strip(" \n*_.")
    reason = _REASON.sub("", rest).strip(" \n*_")
    return Review(last[1].lower() == "accept", reason or "It does not fit the part.")


class VerifyUser(LlmUser):
    """Reviews each draft and replaces a rejected one; the third is sent as it is."""

    async def next_line(self, conversation: Sequence[ChatMessage]) -> Line:
        line = await self.ask(conversation)
        for _ in range(MAX_DRAFTS - 1):
            review = await self.review(conversation, line.said)
            if review.accepted:
                break
            line = await self.redraft(conversation, line.said, review)
        return line

    async def review(self, conversation: Sequence[ChatMessage], draft: str) -> Review:
        """Whether the draft fits the instruction and the conversation."""
        return read_review(await self.words(prompts.review(self.instruction, conversation, draft)))

    async def redraft(
        self, conversation: Sequence[ChatMessage], draft: str, review: Review
    ) -> Line:
        """Another draft in place of a rejected one."""
        direction = prompts.another_draft(draft)
        return await self.ask(prompts.with_direction(conversation, direction))


def _create(context: UserContext) -> VerifyUser:
    return VerifyUser(required_model(context, "verify"), seed=context.seed)


strategy = UserStrategy(
    "verify", _create, "a language model whose drafts are reviewed", needs_model=True
)
