"""Users that take over in the middle of a conversation that was recorded."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from greenroom.errors import InputError

if TYPE_CHECKING:
    from greenroom.domains.environment import SimulatedUser
    from greenroom.users.strategies import Exchanges


async def take_over(
    user: SimulatedUser,
    instruction: str,
    opening: str,
    exchanges: Exchanges,
    *,
    name: str,
    asks_model: bool,
) -> None:
    """Bring a user to the point where all of this has been said.

    A user with a method `take_over(instruction, opening, exchanges)` does it itself. Another one
    that asks no model is talked through the conversation: it has to say what was recorded.
    """
    own: Any = getattr(user, "take_over", None)
    if own is not None:
        done = own(instruction, opening, exchanges)
        if inspect.isawaitable(done):
            await done
        return
    if not opening and not exchanges:
        raise InputError(
            f"The {name} user cannot go on from the past messages of the task, which end with the "
            "user's own: it has no method take_over(instruction, opening, exchanges). Give it one, "
            "choose another user by --user-strategy, or leave the task out."
        )
    if asks_model:
        raise InputError(
            f"The {name} user cannot take over a conversation: it has no method take_over("
            "instruction, opening, exchanges). Choose another user by --user-strategy."
        )
    said = [await user.open(instruction)]
    for content, _ in exchanges:
        said.append(await user.reply(content))
    recorded = [opening, *(reply for _, reply in exchanges)]
    if said != recorded:
        same = [now == then for now, then in zip(said, recorded, strict=True)]
        number = same.index(False) + 1
        raise InputError(
            f"The {name} user cannot take over this conversation: its message {number} is not "
            "the recorded one. Give it a method take_over(instruction, opening, exchanges), or "
            "choose another user by --user-strategy."
        )
