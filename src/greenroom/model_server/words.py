"""What the simulated user says: the instruction, then consent, then goodbye."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from greenroom.domains.actions import STOP
from greenroom.domains.tasks import Task
from greenroom.model_server.asking import Asked

GO_AHEAD: Final = "Yes, please go ahead."
GREETING: Final = "Hello, I need some help."
"""What a user says who was told nothing."""

_DONE = re.compile(r"\ball (done|set)\b|\banything else\b", re.IGNORECASE)


def user_words(task: Task | None, asked: Asked) -> str:
    """The user's next message: with a thought before it where the prompt wants one."""
    words = _next_words(task, asked)
    if "User Response:" not in asked.system:
        return words
    thought = "I have all that I wanted." if words == STOP else "I say what the agent needs."
    return f"Thought: {thought}\nUser Response: {words}"


def _next_words(task: Task | None, asked: Asked) -> str:
    if not asked.said_by("assistant"):
        return task.instruction if task else GREETING
    last = asked.said_by("user")[-1:]
    outputs = task.outputs if task else ()
    return STOP if last and _is_over(last[0], outputs) else GO_AHEAD


def _is_over(text: str, outputs: Sequence[str]) -> bool:
    """Whether the agent says that it is done, or tells all there is to tell and asks nothing."""
    if _DONE.search(text):
        return True
    plain = text.lower().replace(",", "")
    told = bool(outputs) and all(output.lower() in plain for output in outputs)
    return told and "?" not in text
