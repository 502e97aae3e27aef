"""What is wrong with a call, place by place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from greenroom.workflows.call.calls import CallError

UNPROCESSABLE = 422


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, and where: the keys and positions that lead there."""

    where: tuple[str | int, ...]
    text: str
    kind: str = "value_error"

    def __str__(self) -> str:
        return f"{'.'.join(map(str, self.where))}: {self.text}"


class InvalidCall(CallError):
    """A call that the workflow cannot take: inputs or parameters are missing or of a wrong type."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(map(str, problems)), status=UNPROCESSABLE, kind="InvalidCall")
        self.problems = tuple(problems)


def problems_of(error: ValidationError, *where: str | int) -> list[Problem]:
    """The problems that pydantic found in the value at a place."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return [Problem((*where, *one["loc"]), one["msg"], one["type"]) for one in found]


__all__ = ["UNPROCESSABLE", "InvalidCall", "Problem", "problems_of"]
