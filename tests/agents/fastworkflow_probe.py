"""FastWorkflow's sessions with the bridge in them, scene by scene; the outcome is printed as JSON.

Run by test_fastworkflow_bridge.py in a process of its own: FastWorkflow is heavy and leaves traces.
"""

from __future__ import annotations

import gc
import importlib
import json
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from greenroom.agents.fastworkflow import fastworkflow_bridge as bridge
from greenroom.agents.fastworkflow import session as session
from greenroom.agents.fastworkflow import worker as worker
from greenroom.agents.fastworkflow.fastworkflow_tool_map import ToolMap
from greenroom.agents.fastworkflow.folders import find_workflow, place_copies
from greenroom.domains.domain import load_domain

MARKER = "MARKER-OF-THE-GROUND-TRUTH"
TOOLS = load_domain("retail").tool_infos


def fields(**values: str) -> str:
    """A reply as dspy's chat adapter reads it."""
    parts = [f"[[ ## {name} ## ]]\n{value}\n" for name, value in values.items()]
    return "\n".join([*parts, "[[ ## completed ## ]]"])


def use(tool: str, **arguments: str) -> str:
    """The agent's next tool call."""
    return fields(next_thought="t", next_tool_name=tool, next_tool_args=json.dumps(arguments))


def command(text: str) -> str:
    """The agent's next command."""
    return use("execute_workflow_query", command=text)


PLAN = fields(reasoning="r", next_steps="1. go on")
FINISH = use("finish")
ANSWER = fields(reasoning="r", final_answer="All is done.")
SUMMARY = fields(reasoning="r", conversation_summary="It went well.")
END = (FINISH, ANSWER, SUMMARY)
LOOK = "get_order_details <order_id>#W1</order_id>"
CANCEL = "cancel_pending_order <order_id>#W1</order_id> <reason>a reason of my own</reason>"


class Replies:
    """Plays the models: gives what it was told to, and remembers what it was asked."""

    def __init__(self, replies: list[str]) -> None:
        self.replies = list(replies)
        self.prompts: list[str] = []
        self.roles: list[str] = []
        self.asked: dict[str, int] = {}

    def complete(self, role: str, request: dict[str, Any]) -> dict[str, Any]:
        self.asked[role] = self.asked.get(role, 0) + 1
        self.roles.append(role)
        self.prompts.append("\n".join(str(m["content"]) for m in request["messages"]))
        text = self.replies.pop(0) if self.replies else ANSWER
        return {
            "text": text,
            "finish_reason": "stop",
            "prompt_tokens": 1,
            "completion_tokens": 1,
        }


@dataclass
class Recorder:
    """An environment that notes what is done in it."""

    name: str = "env"
    breaks: bool = False
    done_after: int = 99
    actions: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def step(self, action: dict[str, Any]) -> Any:
        self.actions.append(action)
        if self.breaks:
            raise RuntimeError("the till is stuck")
        done = len(self.actions) >= self.done_after
        return SimpleNamespace(
            observation=f"{self.name} saw step {len(self.actions)}",
            reward=float(done),
            done=done,
            info={"task": {"actions": [MARKER]}},
        )


class Stage:
    """A loaded FastWorkflow."""

    def __init__(self, folder: Path) -> None:
        workflow = find_workflow("retail")
        self.workflow = place_copies(workflow, folder)
        worker.load_fastworkflow(folder, str(self.workflow))
        self.fastworkflow: Any = importlib.import_module("fastworkflow")
        self.sessions = 0

    def context(self) -> Any:
        self.sessions += 1
        key = f"session-{self.sessions}"
        context = self.fastworkflow.WorkflowExecutionContext(run_as_agent=True, session_key=key)
        application = self.fastworkflow.Workflow.create(str(self.workflow), workflow_id_str=key)
        context.bind_app_workflow(application)
        return context

    def scene(
        self,
        replies: list[str],
        environment: Recorder | None = None,
        *,
        turns: tuple[str, ...] = ("Please help me.",),
        decision_only: bool = False,
        predictions: tuple[str, ...] = (),
    ) -> dict[str, Any]:
        """Play a conversation: what was done, told, asked and answered."""
        environment = environment or Recorder()
        models = Replies(replies)
        session.place_models(models.complete, reasoning=True)
        # What FastWorkflow has learned from the scene before.
        shutil.rmtree(self.workflow / "___convo_info", ignore_errors=True)
        worker.NoIntentModel.predict = lambda self, command: list(predictions)
        told: list[dict[str, Any]] = []
        binding = bridge.Binding(
            environment,
            ToolMap(TOOLS),
            decision_only=decision_only,
            exact_only=not predictions,
            models_asked=lambda: dict(models.asked),
        )
        context, answers, statuses = self.context(), list[str](), list[str]()
        problem = None
        with bridge.install_bridge(context, binding):
            bridge.set_step_callback(context, told.append)
            for words in turns:
                if not context.awaiting_user:
                    binding.begin_turn()
                try:
                    turn = context.process_turn(words)
                except Exception as error:
                    problem = type(error).__name__
                    break
                answers.append(turn.answer)
                statuses.append(turn.status.value)
        return {
            "actions": environment.actions,
            "told": told,
            "answers": answers,
            "statuses": statuses,
            "roles": models.roles,
            "left": len(models.replies),
            "prompts": models.prompts,
            "resolved": dict(binding.resolved),
            "stage": context.cme_workflow.context["NLU_Pipeline_Stage"].name,
            "problem": problem,
        }


def scenes(stage: Stage) -> dict[str, Any]:
    """All scenes by name."""
    clarified = fields(
        reasoning="r", clarified_command=LOOK, needs_human="", clarification_question=""
    )
    elsewhere = fields(
        reasoning="r", clarified_command="fly", needs_human="", clarification_question=""
    )
    lost = fields(
        reasoning="r", clarified_command="", needs_human="True", clarification_question="What?"
    )
    missing = "cancel_pending_order <order_id>#W1</order_id>"
    incomplete = fields(reasoning="r", order_id="#W1", reason="NOT_FOUND")
    vague = command("what about it <order_id>#W1</order_id>")
    recovery = {
        "misunderstood": [PLAN, vague, clarified, *END],
        "ambiguous": [PLAN, vague, clarified, *END],
        "misunderstood for good": [PLAN, command("sing a song"), lost, *END],
        "incomplete": [
            PLAN,
            command(missing),
            *[incomplete] * 3,
            PLAN,
            command(CANCEL),
            *END,
        ],
    }
    found: dict[str, Any] = {
        "plain": stage.scene([PLAN, command(LOOK), *END]),
        "decision only": stage.scene([PLAN, command(LOOK), *END], decision_only=True),
        "broken environment": stage.scene([PLAN, command(LOOK), *END], Recorder(breaks=True)),
        "over": stage.scene([PLAN, command(LOOK), command(LOOK)], Recorder(done_after=1)),
        "garbled": stage.scene(
            [PLAN, command(CANCEL), "?!", "?!", command(CANCEL), command(LOOK), *END]
        ),
        "repeated": stage.scene([PLAN, command(LOOK), command(LOOK), *END]),
        "asked": stage.scene(
            [
                PLAN,
                command(LOOK),
                use("ask_user", clarification_request="Sure?"),
                PLAN,
                command(LOOK),
                command(CANCEL),
                *END,
            ],
            turns=("Please help me.", "Yes."),
        ),
        "unmapped": stage.scene([PLAN, command("go_up"), *END]),
        "blank": stage.scene([PLAN, command("  "), *END]),
        "line break": stage.scene(
            [PLAN, command("get_order_details\n<order_id>#W1</order_id>"), *END]
        ),
        "never clarified": stage.scene(
            [PLAN, vague, *[elsewhere] * 4, *END, *[elsewhere] * 50],
            predictions=("get_order_details", "get_user_details"),
        ),
        "entry": recovered(stage, recovery),
    }
    bridge.ENTRY_POINT = "_there_is_no_such_function"
    found["fallback"] = recovered(stage, recovery)
    found["fallback"]["broken"] = stage.scene([PLAN, command(LOOK), *END], Recorder(breaks=True))
    bridge.ENTRY_POINT = "_execute_workflow_query"
    found["patches"] = patches(stage)
    found["two sessions"] = two_sessions(stage)
    return found


def recovered(stage: Stage, recovery: dict[str, list[str]]) -> dict[str, Any]:
    """The scenes in which FastWorkflow has to help itself."""
    both = ("get_order_details", "get_user_details")
    return {
        name: stage.scene(replies, predictions=both if name == "ambiguous" else ())
        for name, replies in recovery.items()
    }


def patches(stage: Stage) -> dict[str, Any]:
    """What is patched before, within and after; also where a session is just dropped."""
    agent: Any = importlib.import_module("fastworkflow.workflow_agent")
    module: Any = importlib.import_module("fastworkflow.command_executor")
    executor = module.CommandExecutor
    before = (agent._execute_workflow_query, executor.__dict__["invoke_command"])

    def now() -> bool:
        return (agent._execute_workflow_query, executor.__dict__["invoke_command"]) == before

    found: dict[str, Any] = {"before": now()}
    with bridge.install_bridge(stage.context(), bridge.Binding(Recorder(), ToolMap(TOOLS))):
        found["within"] = now()
        # A session that nobody bound goes on as it always did: its own data, its own tools.
        other = stage.context()
        other.push_active_workflow(other.app_workflow)
        other._ensure_agent_initialized()
        found["unbound"] = executor.invoke_command(other, "list_all_product_types").success
        other.pop_active_workflow()
    found["after"] = now()
    dropped = bridge.install_bridge(stage.context(), bridge.Binding(Recorder(), ToolMap(TOOLS)))
    dropped.__enter__()
    del dropped, other
    gc.collect()
    found["dropped"] = now()
    hidden = executor.invoke_command
    del executor.invoke_command
    try:
        with bridge.install_bridge(stage.context(), bridge.Binding(Recorder(), ToolMap(TOOLS))):
            pass
    except Exception as error:
        found["refused"] = str(error)
    finally:
        executor.invoke_command = hidden
    return found


def two_sessions(stage: Stage) -> dict[str, Any]:
    """Two sessions at once, each with its environment."""
    one, other = Recorder("one"), Recorder("other")
    contexts = [stage.context(), stage.context()]
    bindings = [bridge.Binding(env, ToolMap(TOOLS)) for env in (one, other)]
    found: dict[str, Any] = {}
    with (
        bridge.install_bridge(contexts[0], bindings[0]),
        bridge.install_bridge(contexts[1], bindings[1]),
    ):
        for context, name in zip(contexts, ("one", "other"), strict=True):
            models = Replies(
                [PLAN, command(f"get_order_details <order_id>#W{name}</order_id>"), *END]
            )
            session.place_models(models.complete, reasoning=True)
            context.process_turn("Go on.")
            found[f"{name} prompts"] = models.prompts
    found |= {"one": one.actions, "other": other.actions}
    return found


if __name__ == "__main__":
    print("RESULT", json.dumps(scenes(Stage(Path(sys.argv[1])))))
