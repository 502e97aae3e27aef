"""FastWorkflow's roles: planner, agent, answer, summary, clarification and parameters.

Each is asked with a dspy form; the fields of the form tell which one.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, Final, Literal

import orjson

from greenroom.domains.domain import Domain
from greenroom.domains.tasks import RESPOND, Action
from greenroom.model_server.dspy_forms import REASONING, Form, read_form
from greenroom.model_server.fastworkflow_commands import (
    UNKNOWN_COMMAND,
    exact_command,
    incomplete_command,
    loose_command,
    parameter_value,
)
from greenroom.model_server.fastworkflow_state import (
    ASK,
    EXECUTE,
    AgentState,
    all_given,
    read_state,
    summary_of,
)
from greenroom.model_server.planned_actions import PlannedActions, TaskFinder, habits_of
from greenroom.model_server.requests import BadRequest, ChatRequest

FormRole = Literal["planner", "agent", "answer", "summary", "clarification", "parameters"]

GARBLED: Final = "Let me think about this for a moment."
"""A reply without any of the wanted fields."""

UNFINISHED: Final = "One moment, please."
"""What an agent with more to do tells the user."""

_THOUGHT = "This is the next step."
_FINISH: tuple[str, dict[str, Any]] = ("finish", {})
_LIST_COMMANDS: tuple[str, dict[str, Any]] = ("what_can_i_do", {})
_REMEMBERED = 10_000

_ROLE_BY_FIELD: dict[str, FormRole] = {
    "next_tool_name": "agent",
    "conversation_summary": "summary",
    "clarified_command": "clarification",
    "next_steps": "planner",
    "subtasks": "planner",
}


class FastWorkflowRoles:
    """Plays every model that FastWorkflow asks about the tasks of a split."""

    def __init__(self, domain: Domain, tasks: TaskFinder, planned: PlannedActions) -> None:
        self._domain = domain
        self._tasks = tasks
        self._planned = planned
        self._garbled: set[bytes] = set()

    async def reply(self, request: ChatRequest) -> tuple[FormRole, str] | None:
        """The role that is asked, and its answer; None for other requests."""
        form = read_form(request)
        role = None if form is None else _role(form)
        if form is None or role is None:
            return None
        values = await self._values(role, form, request)
        return role, GARBLED if values is None else form.filled({REASONING: _THOUGHT, **values})

    async def _values(
        self, role: FormRole, form: Form, request: ChatRequest
    ) -> dict[str, Any] | None:
        """The values of the form; None for a garbled reply."""
        if role == "parameters":
            return _parameters(form)
        if role == "summary":
            return self._summary(form)
        state = await self._state(form, request)
        match role:
            case "agent":
                return self._act(state, form, request)
            case "planner":
                return _plan(state)
            case "clarification":
                return _clarification(state, form)
            case "answer":
                words = state.words or UNFINISHED
                return {name: words for name in form.wanted if name != REASONING}

    async def _state(self, form: Form, request: ChatRequest) -> AgentState:
        given = all_given(form)
        task_index = self._tasks.find_in("\n".join(given.values()), request.seed)
        if task_index is None:
            raise BadRequest(
                f"This form is about none of {self._tasks.description}: the user's message or the "
                "summaries of earlier turns have to contain a task's instruction.",
                code="unknown_task",
            )
        planned = await self._planned.of(request.model, task_index, request.seed or 0)
        return read_state(form, given, planned.actions)

    def _act(self, state: AgentState, form: Form, request: ChatRequest) -> dict[str, Any] | None:
        habits = habits_of(request.model)
        tool, arguments = self._next_tool(state, habits)
        if "garbled" in habits and self._is_time(state, tool) and self._garbles(form, request):
            return None
        return {"next_thought": _THOUGHT, "next_tool_name": tool, "next_tool_args": arguments}

    def _next_tool(
        self, state: AgentState, habits: frozenset[str]
    ) -> tuple[str, Mapping[str, Any]]:
        action = state.next
        if not state.by_command:
            return (action.name, action.kwargs) if action else _FINISH
        if "unknown" in habits and not state.has_given(UNKNOWN_COMMAND):
            return EXECUTE, {"command": UNKNOWN_COMMAND}
        if "ask" in habits and not state.has_asked and (not action or self._changes(action)):
            step = action.name.replace("_", " ") if action else "tell you what I found"
            return ASK, {"clarification_request": f"I am about to {step}. Shall I go ahead?"}
        if action:
            return EXECUTE, {"command": _command(state, action, habits)}
        # An agent that has a command for none of its actions would finish without an answer.
        return _FINISH if any(map(state.can_do, state.actions)) else _LIST_COMMANDS

    def _changes(self, action: Action) -> bool:
        tool = self._domain.tools.get(action.name)
        return tool is not None and (tool.writes or tool.ends_episode)

    def _summary(self, form: Form) -> dict[str, str]:
        given = form.given
        said = given.get("user_query", "")
        task_index = self._tasks.find_in(said)
        if task_index is not None:
            said = self._tasks.tasks[task_index].instruction.strip()
        answer = given.get("final_agent_response", "")
        return {"conversation_summary": summary_of(said, given.get("workflow_actions", ""), answer)}

    def _is_time(self, state: AgentState, tool: str) -> bool:
        """Whether the first change was just made, or the turn ends without one to make."""
        changes = [action for action in state.actions if self._changes(action)]
        if not changes:
            return tool == _FINISH[0] and not state.earlier_turns
        last = state.uses[-1].command if state.uses else ""
        still_left = sum(map(self._changes, state.left))
        is_change = last in (exact_command(changes[0]), loose_command(changes[0]))
        return is_change and still_left == len(changes) - 1

    def _garbles(self, form: Form, request: ChatRequest) -> bool:
        """Whether to garble the reply: every other time that the form comes.

        dspy asks again for JSON and gets a garbled reply too. Then the agent's loop restarts and
        sends the same form once more: that one gets a proper answer.
        """
        prompt = orjson.dumps([request.model, request.seed, dict(form.given)])
        key = blake2b(prompt, digest_size=16).digest()
        if form.as_json:
            return key in self._garbled
        if key in self._garbled:
            self._garbled.discard(key)
            return False
        if len(self._garbled) >= _REMEMBERED:
            self._garbled.clear()
        self._garbled.add(key)
        return True


def _role(form: Form) -> FormRole | None:
    for field, role in _ROLE_BY_FIELD.items():
        if field in form.wanted:
            return role
    if form.inputs == frozenset({"statement"}):
        return "parameters"
    return "answer" if "trajectory" in form.inputs else None


def _plan(state: AgentState) -> dict[str, str]:
    """The names of the remaining commands; the request is never split into subtasks."""
    steps = [action.name for action in state.left if action.name != RESPOND]
    numbered = [f"{number}. {step}" for number, step in enumerate([*steps, "answer"], start=1)]
    done = len(state.actions) - len(state.left)
    whats_done = f"{done} of {len(state.actions)} steps."
    return {"next_steps": "\n".join(numbered), "whats_done": whats_done, "subtasks": ""}


def _command(state: AgentState, action: Action, habits: frozenset[str]) -> str:
    with_values = [one for one in state.actions if one.kwargs and state.can_do(one)]
    incomplete, loose = incomplete_command(action), loose_command(action)
    if "missing" in habits and action is with_values[0] and not state.has_given(incomplete):
        return incomplete
    if "loose" in habits and not state.has_given(loose):
        return loose
    return exact_command(action)


def _clarification(state: AgentState, form: Form) -> dict[str, str]:
    """The intended command if it is among those offered; otherwise a question for the user.

    FastWorkflow takes any text in `needs_human` for a yes, even "False".
    """
    original, offered = form.given.get("original_command"), form.given.get("error_message", "")
    meant = [
        exact_command(action)
        for action in state.actions
        if original == loose_command(action) and action.name in offered
    ]
    return {
        "clarified_command": meant[0] if meant else "",
        "needs_human": "" if meant else "True",
        "clarification_question": "" if meant else "What would you like me to do?",
    }


def _parameters(form: Form) -> dict[str, Any]:
    """The values in the command; the form's defaults cover the others."""
    command = form.given.get("statement", "")
    values = {
        name: parameter_value(command, name, field)
        for name, field in form.wanted.items()
        if name != REASONING
    }
    return {name: value for name, value in values.items() if value is not None}
