"""Who is asked: an agent, a user or a judge, told from the messages alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

import orjson

from greenroom.domains.actions import RESPOND
from greenroom.domains.domain import Domain
from greenroom.model_server.actions import Reply, Spoiling, deeds_done, protocol_of, write_action
from greenroom.model_server.asking import Asked, BadRequest
from greenroom.model_server.fastworkflow_parts import FastWorkflowParts, FormRole
from greenroom.model_server.known_tasks import KnownTasks
from greenroom.model_server.plans import Plans
from greenroom.model_server.schemas import action_places, minimal_instance
from greenroom.model_server.words import user_words

Role = Literal["agent", "user", "judge"] | FormRole

MODELS: Final = ("oracle", "synthetic", "synthetic-0.5", "user", "judge")
"""Names worth listing: any other plays as the oracle does."""

VERDICT: Final = {"description": "-", "author": "agent", "kind": "other", "fault_type": "other"}
"""A judge's answer where no schema says what it should look like."""

_USER_PROMPT = re.compile(r"\byou are (?:a|the) (?:user|customer)\b", re.IGNORECASE)
_JUDGE_PROMPT = (
    re.compile(r"\bfaults?\b", re.IGNORECASE),
    re.compile(r"\b(?:at fault|assign|classify|responsible)\b", re.IGNORECASE),
)
_REVIEWS = (
    (re.compile(r"Classification:\s*\Z"), "true"),
    (re.compile(r"^Verdict: ", re.MULTILINE), "Reason: It fits.\nVerdict: accept"),
)
"""How verifying users ask whether what they want to say will do: Tau Bench's and our own."""

_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class Part:
    """Somebody's next line."""

    role: Role
    speak: Callable[[Spoiling | None], Reply]
    acts: bool = False
    """It is written as an action, so its tool's name and arguments can be spoiled."""


class Cast:
    """Everybody who can be asked about the tasks of a split."""

    def __init__(self, domain: Domain, split: str, seed: int) -> None:
        self._known = KnownTasks(domain, split)
        self._plans = Plans(domain, split, seed)
        self._fastworkflow = FastWorkflowParts(domain, self._known, self._plans)
        self._by_prompt: dict[str, int | None] = {}

    async def part(self, asked: Asked) -> Part:
        """Whose turn it is; raises BadRequest where it is nobody's."""
        model = asked.model.rpartition("/")[2]
        line = None if model in ("judge", "user") else await self._fastworkflow.line(asked)
        if line is not None:
            return _words(*line)
        if model == "judge" or (asked.schema and not any(action_places(asked.schema))):
            return _words("judge", _verdict(asked))
        task_index = None if model == "user" else self._agents_task(asked)
        if task_index is not None:
            return await self._agent(asked, task_index)
        part = None if asked.tools else self._told_by_prompt(asked)
        if part is None:
            raise BadRequest(
                f"This conversation is about none of {self._known.place}: an agent's first user "
                "message has to be a task's instruction, a user's system message has to contain "
                "one.",
                code="unknown_task",
            )
        return part

    def _told_by_prompt(self, asked: Asked) -> Part | None:
        system = asked.system
        is_user = _USER_PROMPT.search(system) is not None
        if not is_user:
            prompt = "\n".join([system, *asked.said_by("user")])
            for question, consent in _REVIEWS:
                if question.search(prompt):
                    return _words("judge", consent)
            if all(word.search(prompt) for word in _JUDGE_PROMPT):
                return _words("judge", _verdict(asked))
        task_index = self._users_task(system)
        if task_index is None and not is_user:
            return None
        task = None if task_index is None else self._known.tasks[task_index]
        return _words("user", user_words(task, asked))

    async def _agent(self, asked: Asked, task_index: int) -> Part:
        plan = await self._plans.plan(asked.model, task_index, asked.seed or 0)
        action = plan.next_action(deeds_done(asked.messages))
        protocol = protocol_of(asked)
        acts = protocol in ("text", "structured") or (
            protocol == "tools" and action.name != RESPOND
        )
        return Part("agent", lambda spoiled: write_action(action, asked, protocol, spoiled), acts)

    def _agents_task(self, asked: Asked) -> int | None:
        for text in asked.said_by("user"):
            task_index = self._known.named(text)
            if task_index is not None:
                return task_index
        return None

    def _users_task(self, prompt: str) -> int | None:
        if prompt not in self._by_prompt:
            if len(self._by_prompt) >= _REMEMBERED:
                self._by_prompt.clear()
            self._by_prompt[prompt] = self._known.within(prompt)
        return self._by_prompt[prompt]


def _words(role: Role, text: str) -> Part:
    return Part(role, lambda _: Reply(text))


def _verdict(asked: Asked) -> str:
    return orjson.dumps(minimal_instance(asked.schema) if asked.schema else VERDICT).decode()
