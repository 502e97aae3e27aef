"""A user who asks once more before they stop."""

from __future__ import annotations

from greenroom.domains.tasks import STOP


class Twice:
    """Opens with the instruction, asks back twice, then stops."""

    def __init__(self) -> None:
        self._heard = 0

    async def open(self, instruction: str) -> str:
        return instruction

    async def reply(self, content: str) -> str:
        self._heard += 1
        return STOP if self._heard > 2 else f"Is that all? ({self._heard})"
