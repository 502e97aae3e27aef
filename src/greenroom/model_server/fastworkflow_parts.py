"""FastWorkflow's parts: planner, agent, answer, summary, clarification and parameters.

Each is asked with a form of dspy's and is told from the others by the fields in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, Final, Literal

import orjson

from greenroom.domains.actions import RESPOND, Action
from greenroom.domains.domain import Domain
from greenroom.model_server.asking import Asked, BadRequest
from greenroom.model_server.commands import (
    UNKNOWN_COMMAND,
    exact_command,
    incomplete_command,
    loose_command,
    parameter_value,
)
from greenroom.model_server.dspy_forms import REASONING, Form, read_form
from greenroom.model_server.fastworkflow_scenes import (
    ASK,
    EXECUTE,
    Scene,
    all_given,
    read_scene,
    summary_of,
)
from greenroom.model_server.known_tasks import KnownTasks
from greenroom.model_server.plans import Plans, habits_of

FormRole = Literal["planner", "agent", "answer", "summary", "clarification", "parameters"]

GARBLED: Final = "Let me think about this for a moment."
"""A reply that has none of the wanted fields."""

UNFINISHED: Final = "One moment, please."
"""What the user hears from an agent who has more to do."""

_THOUGHT = "This is the next step."
_FINISH: tuple[str, dict[str, Any]] = ("finish", {})
_LOOK_AROUND: tuple[str, dict[str, Any]] = ("what_can_i_do", {})
_REMEMBERED = 10_000

_ROLE_BY_FIELD: dict[str, FormRole] = {
    "next_tool_name": "agent",
    "conversation_summary": "summary",
    "clarified_command": "clarification",
    "next_steps": "planner",
    "subtasks": "planner",
}


class FastWorkflowParts:
    """Plays every model that FastWorkflow asks about the tasks of a split."""

    def __init__(self, domain: Domain, known: KnownTasks, plans: Plans) -> None:
        self._domain = domain
        self._known = known
        self._plans = plans
        self._garbled: set[bytes] = set()

    async def line(self, asked: Asked) -> tuple[FormRole, str] | None:
        """Who is asked, and the answer; None if it is none of these parts."""
        form = read_form(asked)
        role = None if form is None else _role(form)
        if form is None or role is None:
            return None
        values = await self._values(role, form, asked)
        return role, GARBLED if values is None else form.filled({REASONING: _THOUGHT, **values})

    async def _values(self, role: FormRole, form: Form, asked: Asked) -> dict[str, Any] | None:
        """What to fill in; None where the reply is to be no form at all."""
        if role == "parameters":
            return _parameters(form)
        if role == "summary":
            return self._summary(form)
        scene = await self._scene(form, asked)
        match role:
            case "agent":
                return self._act(scene, form, asked)
            case "planner":
                return _plan(scene)
            case "clarification":
                return _clarification(scene, form)
            case "answer":
                words = scene.words or UNFINISHED
                return {name: words for name in form.wanted if name != REASONING}

    async def _scene(self, form: Form, asked: Asked) -> Scene:
        given = all_given(form)
        task_index = self._known.within("\n".join(given.values()))
        if task_index is None:
            raise BadRequest(
                f"This form is about none of {self._known.place}: the user's message, or what is "
                "told of earlier turns, has to contain a task's instruction.",
                code="unknown_task",
            )
        plan = await self._plans.plan(asked.model, task_index, asked.seed or 0)
        return read_scene(form, given, plan.actions)

    def _act(self, scene: Scene, form: Form, asked: Asked) -> dict[str, Any] | None:
        habits = habits_of(asked.model)
        tool, arguments = self._next_tool(scene, habits)
        if "garbled" in habits and self._is_time(scene, tool) and self._garbles(form, asked):
            return None
        return {"next_thought": _THOUGHT, "next_tool_name": tool, "next_tool_args": arguments}

    def _next_tool(self, scene: Scene, habits: frozenset[str]) -> tuple[str, Mapping[str, Any]]:
        action = scene.next
        if not scene.by_command:
            return (action.name, action.kwargs) if action else _FINISH
        if "unknown" in habits and not scene.has_given(UNKNOWN_COMMAND):
            return EXECUTE, {"command": UNKNOWN_COMMAND}
        if "ask" in habits and not scene.has_asked and (not action or self._changes(action)):
            deed = action.name.replace("_", " ") if action else "tell you what I found"
            return ASK, {"clarification_request": f"I am about to {deed}. Shall I go ahead?"}
        if action:
            return EXECUTE, {"command": _command(scene, action, habits)}
        # Who has nothing to do and nothing to say is lost in thought.
        return _FINISH if any(map(scene.can_do, scene.actions)) else _LOOK_AROUND

    def _changes(self, action: Action) -> bool:
        tool = self._domain.tools.get(action.name)
        return tool is not None and (tool.writes or tool.ends_episode)

    def _summary(self, form: Form) -> dict[str, str]:
        given = form.given
        said = given.get("user_query", "")
        task_index = self._known.within(said)
        if task_index is not None:
            said = self._known.tasks[task_index].instruction.strip()
        answer = given.get("final_agent_response", "")
        return {"conversation_summary": summary_of(said, given.get("workflow_actions", ""), answer)}

    def _is_time(self, scene: Scene, tool: str) -> bool:
        """Whether the first change was just made; without any to make, whether the turn ends."""
        changes = [action for action in scene.actions if self._changes(action)]
        if not changes:
            return tool == _FINISH[0] and not scene.earlier_turns
        last = scene.uses[-1].command if scene.uses else ""
        still_left = sum(map(self._changes, scene.left))
        is_change = last in (exact_command(changes[0]), loose_command(changes[0]))
        return is_change and still_left == len(changes) - 1

    def _garbles(self, form: Form, asked: Asked) -> bool:
        """Whether the reply is spoiled: every other time that it is asked for.

        dspy asks once more, for JSON, and gets no better answer. Then the agent's loop begins
        again, so that the same form comes a second time: that one is answered properly.
        """
        prompt = orjson.dumps([asked.model, asked.seed, dict(form.given)])
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


def _plan(scene: Scene) -> dict[str, str]:
    """The commands that are left, by name; a request is never cut into several."""
    steps = [action.name for action in scene.left if action.name != RESPOND]
    numbered = [f"{number}. {step}" for number, step in enumerate([*steps, "answer"], start=1)]
    done = len(scene.actions) - len(scene.left)
    whats_done = f"{done} of {len(scene.actions)} steps."
    return {"next_steps": "\n".join(numbered), "whats_done": whats_done, "subtasks": ""}


def _command(scene: Scene, action: Action, habits: frozenset[str]) -> str:
    with_values = [one for one in scene.actions if one.kwargs and scene.can_do(one)]
    incomplete, loose = incomplete_command(action), loose_command(action)
    if "missing" in habits and action is with_values[0] and not scene.has_given(incomplete):
        return incomplete
    if "loose" in habits and not scene.has_given(loose):
        return loose
    return exact_command(action)


def _clarification(scene: Scene, form: Form) -> dict[str, str]:
    """The command that was meant, if it is among those offered; otherwise the user is needed.

    FastWorkflow takes any text in `needs_human` for a yes, even "False".
    """
    original, offered = form.given.get("original_command"), form.given.get("error_message", "")
    for action in scene.actions:
        if original == loose_command(action) and action.name in offered:
            clarified = exact_command(action)
            return _clarified(clarified, needs_human="", question="")
    return _clarified("", needs_human="True", question="What would you like me to do?")


def _clarified(command: str, *, needs_human: str, question: str) -> dict[str, str]:
    return {
        "clarified_command": command,
        "needs_human": needs_human,
        "clarification_question": question,
    }


def _parameters(form: Form) -> dict[str, Any]:
    """What the command says; what it does not say is left to the form's own defaults."""
    command = form.given.get("statement", "")
    values = {
        name: parameter_value(command, name, field)
        for name, field in form.wanted.items()
        if name != REASONING
    }
    return {name: value for name, value in values.items() if value is not None}
