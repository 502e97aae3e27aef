"""Answer as the agent, the user or the judge; the messages tell which one is asked."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import orjson

from greenroom.domains.domain import Domain
from greenroom.domains.past import past_messages
from greenroom.domains.tasks import RESPOND, STOP, Action, Task
from greenroom.model_server.actions import (
    Reply,
    actions_done,
    protocol_of,
    write_action,
)
from greenroom.model_server.fastworkflow_roles import FastWorkflowRoles, FormRole
from greenroom.model_server.planned_actions import GO_AHEAD, PlannedActions, TaskFinder
from greenroom.model_server.requests import BadRequest, ChatRequest
from greenroom.model_server.schemas import action_places, minimal_instance
from greenroom.users.requests import DONE, requested_calls
from greenroom.util.json_values import as_list

ScriptRole = Literal["agent", "user", "judge"] | FormRole

MODELS: Final = ("oracle", "synthetic", "synthetic-0.5", "user", "judge")
"""The model names to list; any other name plays the oracle."""

VERDICT: Final = {"description": "-", "author": "agent", "kind": "other", "fault_type": "other"}
"""The judge's answer to a request without a schema."""

_USER_PROMPT = re.compile(r"\byou are (?:a|the) (?:user|customer)\b", re.IGNORECASE)
_JUDGE_PROMPT = (
    re.compile(r"\bfaults?\b", re.IGNORECASE),
    re.compile(r"\b(?:at fault|assign|classify|responsible)\b", re.IGNORECASE),
)
_STATEMENTS = re.compile(r"<statements>\n(.*)\n</statements>", re.DOTALL)
_NUMBER = re.compile(r"^(\d+)\. ", re.MULTILINE)
_REVIEWS = (
    (re.compile(r"Classification:\s*\Z"), "true"),
    (re.compile(r"^Verdict: ", re.MULTILINE), "Reason: It fits.\nVerdict: accept"),
)
"""How verifying users ask for a review of their reply (Tau Bench's and ours), and the consent."""

GREETING: Final = "Hello, I need some help."
"""How a user without an instruction begins."""

_DONE = re.compile(r"\ball (done|set)\b|\banything else\b", re.IGNORECASE)
_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class RoleReply:
    """The next reply of a role."""

    role: ScriptRole
    write: Callable[[str | None], Reply]
    """Writes the reply, with a fault of the action if it is one."""
    is_action: bool = False
    """The reply is written as an action, so `wrong-tool` and `bad-arguments` apply."""


class RoleRouter:
    """Decides which role a request addresses, and how that role replies."""

    def __init__(self, domain: Domain, split: str, seed: int) -> None:
        self._tasks = TaskFinder(domain, split, seed)
        self._planned = PlannedActions(domain, split, seed)
        self._fastworkflow = FastWorkflowRoles(domain, self._tasks, self._planned)
        self._by_prompt: dict[str, str] = {}

    async def route(self, request: ChatRequest) -> RoleReply:
        """The reply to a request; raise BadRequest if no role fits."""
        model = request.model.rpartition("/")[2]
        form_reply = None if model in ("judge", "user") else await self._fastworkflow.reply(request)
        if form_reply is not None:
            return _text_reply(*form_reply)
        if model == "judge" or (request.schema and not any(action_places(request.schema))):
            return _text_reply("judge", _verdict(request))
        task_index = None if model == "user" else self._agents_task(request)
        if task_index is not None:
            return await self._agent(request, task_index)
        reply = self._reply_by_prompt(request)
        if reply is None:
            raise BadRequest(
                f"This conversation is about none of {self._tasks.description}: an agent's first "
                "user message has to be a task's instruction, a user's system message has to "
                "contain one.",
                code="unknown_task",
            )
        return reply

    def _reply_by_prompt(self, request: ChatRequest) -> RoleReply | None:
        system = request.system
        is_user = _USER_PROMPT.search(system) is not None
        if not is_user and not request.tools:
            prompt = "\n".join([system, *request.said_by("user")])
            for question, consent in _REVIEWS:
                if question.search(prompt):
                    return _text_reply("judge", consent)
            if all(word.search(prompt) for word in _JUDGE_PROMPT):
                return _text_reply("judge", _verdict(request))
        task_index = self._users_task(request)
        if task_index is None and not is_user:
            return None
        task = None if task_index is None else self._tasks.tasks[task_index]
        request = _without_past(request, task)
        call = _next_call(request)
        if call is not None:
            return RoleReply("user", lambda _: write_action(call, request, "tools"))
        return _text_reply("user", _user_message(task, request))

    async def _agent(self, request: ChatRequest, task_index: int) -> RoleReply:
        planned = await self._planned.of(request.model, task_index, request.seed or 0)
        action = planned.next_action(actions_done(request.messages))
        protocol = protocol_of(request)
        is_action = protocol in ("text", "structured") or (
            protocol == "tools" and action.name != RESPOND
        )
        return RoleReply(
            "agent", lambda fault: write_action(action, request, protocol, fault), is_action
        )

    def _agents_task(self, request: ChatRequest) -> int | None:
        found = (self._tasks.match(said, request.seed) for said in request.said_by("user"))
        return next((task_index for task_index in found if task_index is not None), None)

    def _users_task(self, request: ChatRequest) -> int | None:
        prompt = request.system
        if prompt not in self._by_prompt:
            if len(self._by_prompt) >= _REMEMBERED:
                self._by_prompt.clear()
            self._by_prompt[prompt] = self._tasks.instruction_in(prompt)
        return self._tasks.chosen(self._by_prompt[prompt], request.seed)


def _text_reply(role: ScriptRole, text: str) -> RoleReply:
    return RoleReply(role, lambda _: Reply(text))


def _verdict(request: ChatRequest) -> str:
    numbered = _STATEMENTS.search("\n".join(request.said_by("user")))
    if numbered is not None:
        numbers = [int(number) for number in _NUMBER.findall(numbered[1])]
        results = [{"number": number, "reason": "-", "met": True} for number in numbers]
        return orjson.dumps({"results": results}).decode()
    return orjson.dumps(minimal_instance(request.schema) if request.schema else VERDICT).decode()


def _user_message(task: Task | None, request: ChatRequest) -> str:
    """The user's next message, after a thought if the prompt asks for one."""
    text = _user_text(task, request)
    if "User Response:" not in request.system:
        return text
    thought = "I have all that I wanted." if text == STOP else "I say what the agent needs."
    return f"Thought: {thought}\nUser Response: {text}"


def _without_past(request: ChatRequest, task: Task | None) -> ChatRequest:
    """A user's request from where the task begins: what was said before is no part of it."""
    past = [] if task is None else past_messages(task, "user")
    if past and past[-1]["role"] == "user":  # the user answers it
        past.pop()
    skipped = 1 + len(past)
    if not past or [one["role"] for one in request.messages[1:skipped]] != [
        one["role"] for one in past
    ]:
        return request
    return replace(request, messages=[request.messages[0], *request.messages[skipped:]])


def _next_call(request: ChatRequest) -> Action | None:
    """What the user does next, if the agent has asked for something that is not done yet."""
    asked = requested_calls("".join(request.said_by("user")[-1:])) if request.tools else []
    done = 0
    for message in reversed(request.messages):
        if message["role"] == "user":
            break
        done += len(as_list(message.get("tool_calls")))
    return asked[done] if done < len(asked) else None


def _user_text(task: Task | None, request: ChatRequest) -> str:
    if not request.said_by("assistant"):
        return task.instruction if task else GREETING
    last = request.said_by("user")[-1:]
    if request.tools and last and requested_calls(last[0]):
        return DONE
    outputs = task.outputs if task else ()
    return STOP if last and _is_over(last[0], outputs) else GO_AHEAD


def _is_over(text: str, outputs: Sequence[str]) -> bool:
    """Whether the agent says that it is done, or names every output and asks nothing."""
    if _DONE.search(text):
        return True
    plain = text.lower().replace(",", "")
    told = bool(outputs) and all(output.lower() in plain for output in outputs)
    return told and "?" not in text
