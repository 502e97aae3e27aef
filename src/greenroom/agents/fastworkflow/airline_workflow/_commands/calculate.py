"""The command `calculate`."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel

from greenroom.agents.fastworkflow.airline_workflow.airline_commands import (
    AirlineSignature,
    AirlineTool,
)
from greenroom.agents.fastworkflow.airline_workflow.airline_parameters import text


class Signature(AirlineSignature):
    """Work out an arithmetic expression; the answer has two decimal places at most."""

    class Input(BaseModel):
        """What to work out."""

        expression: str = text("expression: numbers, + - * /, parentheses and spaces")

    plain_utterances: ClassVar[list[str]] = [
        "What is 2 * (350 - 122)?",
        "Add 430 and 412, then subtract 245.",
        "How much is three times 168 plus 114?",
        "Compute the total of these prices: 65 + 83 + 120.",
        "Work out the difference between 499 and 127.",
        "Multiply 50 by 3 for me.",
        "What does 1250 / 4 come to?",
        "Do the sum (168 + 114) * 2.",
    ]


class ResponseGenerator(AirlineTool):
    """Works it out."""

    tool = "calculate"
