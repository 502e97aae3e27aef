"""A user played by a language model that reflects on rejected drafts and rewrites them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from greenroom.users import prompts
from greenroom.users.llm import Line
from greenroom.users.react import spoken_part
from greenroom.users.strategies import UserContext, UserStrategy, required_model
from greenroom.users.verify import Review, VerifyUser

if TYPE_CHECKING:
    from greenroom.models import ChatMessage


class ReflectionUser(VerifyUser):
    """Reviews each draft and rewrites a rejected one after reflecting on the reason."""

    async def redraft(
        self, conversation: Sequence[ChatMessage], draft: str, review: Review
    ) -> Line:
        direction = prompts.reflection(draft, review.reason)
        line = await self.ask(prompts.with_direction(conversation, direction), spoken_part)
        return Line(line.said, kept=line.said)


def _create(context: UserContext) -> ReflectionUser:
    return ReflectionUser(required_model(context, "reflection"), seed=context.seed)


strategy = UserStrategy(
    "reflection",
    _create,
    "a language model that rewrites rejected drafts after reflection",
    needs_model=True,
)
